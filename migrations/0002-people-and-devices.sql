-- People and devices: what a partner provisions.

-- A column and not an expression: the planner takes an order from an index only for a plain boolean, in both of its values.
alter table memberships
  add column is_open boolean not null generated always as (closed_at is null) stored,
  add column activation_mailed_at timestamptz;

-- The list of one organization, by each ordering it documents; closed memberships are listed apart.
create index memberships_email on memberships (organization_id, is_open, email, user_id);
create index memberships_first_name on memberships (organization_id, is_open, first_name, user_id);
create index memberships_last_name on memberships (organization_id, is_open, last_name, user_id);
create index memberships_role on memberships (organization_id, is_open, role, user_id);
create index memberships_created on memberships (organization_id, is_open, created_at, user_id);
create index memberships_search on memberships using gin (search gin_trgm_ops);

create table activation_tokens (
  token_hash bytea primary key,
  organization_id uuid not null references organizations,
  user_id uuid not null references users,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index activation_tokens_user on activation_tokens (user_id);
create index activation_tokens_organization on activation_tokens (organization_id);
create index activation_tokens_expiry on activation_tokens (expires_at);

create table devices (
  id uuid primary key,
  organization_id uuid not null references organizations,
  uid text collate "C" not null check (uid ~ '^[0-9]{15}$'),
  name text collate "C" not null,
  device_model_slug text collate "C" not null,
  protocol_slug text collate "C" not null,
  terminal_id text collate "C",
  -- What terminal ids are compared by: as on the wire of the protocol, where padding may not count.
  terminal_key text collate "C",
  phone_number text,
  iccid text,
  timezone text not null,
  tags text[] not null,
  metadata jsonb not null,
  search text collate "C" not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);
-- An IMEI is live once in the whole installation; the deleted rows of the past stay with their organizations.
create unique index devices_live_uid on devices (uid) where deleted_at is null;
create unique index devices_live_terminal on devices (protocol_slug, terminal_key)
  where deleted_at is null and terminal_key is not null;
-- Model and protocol are in it, so that a filtered page walks this index alone: devices of one model lie side by side in the
-- order of IMEIs, and a page may begin after all those of the others.
create index devices_uid on devices (organization_id, uid, id) include (device_model_slug, protocol_slug)
  where deleted_at is null;
create index devices_name on devices (organization_id, name, id) where deleted_at is null;
create index devices_model on devices (organization_id, device_model_slug, id) where deleted_at is null;
create index devices_protocol on devices (organization_id, protocol_slug, id) where deleted_at is null;
create index devices_created on devices (organization_id, created_at, id) where deleted_at is null;
create index devices_former on devices (organization_id, uid, deleted_at) where deleted_at is not null;
create index devices_tags on devices using gin (tags) where deleted_at is null;
create index devices_search on devices using gin (search gin_trgm_ops) where deleted_at is null;

-- What packets change, apart from the record: one narrow row per device, updated in place.
create table device_state (
  device_id uuid primary key,
  organization_id uuid not null,
  is_online boolean not null,
  last_seen_at timestamptz,
  status_changed_at timestamptz,
  firmware_version text,
  last_status jsonb not null,
  last_location jsonb
) with (fillfactor = 70);
-- No column of it changes with a packet, so that most updates stay in their page (HOT).
create index device_state_online on device_state (organization_id, is_online, device_id);

create table device_capability_overrides (
  device_id uuid not null references devices,
  organization_id uuid not null,
  code text not null,
  supported boolean not null,
  params_schema jsonb,
  updated_at timestamptz not null,
  primary key (device_id, code)
);

-- Desired and reported values of a device's settings (section 3.3 of the API decisions).
create table device_settings (
  device_id uuid not null references devices,
  organization_id uuid not null,
  setting text not null,
  desired jsonb,
  reported jsonb,
  reported_at timestamptz,
  command_uuid uuid,
  updated_at timestamptz not null,
  primary key (device_id, setting)
);

create table assignments (
  id uuid primary key,
  organization_id uuid not null references organizations,
  device_id uuid not null references devices,
  user_id uuid not null references users,
  role smallint not null check (role in (10, 20, 30)),
  is_active boolean not null,
  source text not null check (source in ('assign', 'share', 'invitation', 'admin')),
  search text collate "C" not null,
  assigned_at timestamptz not null,
  unassigned_at timestamptz,
  check (is_active = (unassigned_at is null))
);
create unique index assignments_active on assignments (device_id, user_id) where is_active;
create unique index assignments_active_owner on assignments (device_id) where is_active and role = 30;
create index assignments_user on assignments (user_id, organization_id) where is_active;
create index assignments_time on assignments (organization_id, assigned_at, id) where is_active;
create index assignments_role on assignments (organization_id, role, id) where is_active;
create index assignments_search on assignments using gin (search gin_trgm_ops) where is_active;

create table mails (
  id uuid primary key,
  organization_id uuid not null references organizations,
  kind text not null,
  recipient text not null,
  locale text not null,
  -- The link with its token; forgotten once the mail is sent or given up.
  params jsonb,
  status text not null check (status in ('queued', 'sent', 'failed')),
  attempts int not null default 0,
  next_attempt_at timestamptz not null,
  last_error text,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index mails_due on mails (next_attempt_at) where status = 'queued';
create index mails_organization on mails (organization_id);

create table invitations (
  id uuid primary key,
  organization_id uuid not null references organizations,
  email text collate "C" not null,
  kind text not null check (kind in ('share', 'member')),
  status smallint not null check (status in (10, 20, 30, 40)),
  role smallint not null check (role in (10, 20, 30, 40)),
  -- Names that the inviter gave, for the membership that accepting makes.
  first_name text not null,
  last_name text not null,
  token_hash bytea not null unique,
  -- The mailed link leads to a page of the partner, which then knows the token: it must not set a person's password.
  is_partner_link boolean not null,
  -- The target of a share; private, never in an answer.
  device_id uuid references devices,
  invited_by uuid references users,
  mail_id uuid references mails,
  mailed_at timestamptz not null,
  search text collate "C" not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz,
  deleted_at timestamptz
);
create unique index invitations_pending_share on invitations (organization_id, email, device_id)
  where status = 10 and kind = 'share' and deleted_at is null;
create unique index invitations_pending_member on invitations (organization_id, email)
  where status = 10 and kind = 'member' and deleted_at is null;
create index invitations_created on invitations (organization_id, created_at, id) where deleted_at is null;
create index invitations_expiry on invitations (expires_at) where status = 10;
create index invitations_device on invitations (device_id);
create index invitations_invited_by on invitations (invited_by);
create index invitations_mail on invitations (mail_id);
create index invitations_search on invitations using gin (search gin_trgm_ops) where deleted_at is null;
