-- Text that is sorted or compared uses collate "C": order by code point, the same on every server.

create extension if not exists pg_trgm;

create table settings (
  key text primary key,
  value jsonb not null,
  updated_at timestamptz not null
);

create table organizations (
  id uuid primary key,
  slug text collate "C" not null unique,
  name text not null,
  timezone text not null,
  default_locale text not null,
  features text[] not null,
  per_minute int not null,
  per_hour int not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table integrations (
  id uuid primary key,
  organization_id uuid not null references organizations,
  name text not null,
  client_id text collate "C" not null unique,
  status text not null check (status in ('active', 'disabled', 'deleted')),
  scopes text[] not null,
  webhook_url text,
  -- Signing needs the secret itself, so unlike client secrets it cannot be kept as a hash.
  webhook_secret text,
  webhook_secret_previous text,
  webhook_secret_previous_until timestamptz,
  webhook_event_types text[] not null,
  webhook_device_filter text[] not null,
  link_hosts text[] not null,
  messaging_enabled boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);
create index integrations_organization on integrations (organization_id);

create table integration_secrets (
  integration_id uuid not null references integrations,
  secret_hash bytea not null,
  created_at timestamptz not null,
  valid_until timestamptz,
  primary key (integration_id, secret_hash)
);

create table access_tokens (
  token_hash bytea primary key,
  integration_id uuid not null references integrations,
  organization_id uuid not null references organizations,
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index access_tokens_integration on access_tokens (integration_id);
create index access_tokens_expiry on access_tokens (expires_at);

-- A person exists once; what an organization knows of them is the membership.
create table users (
  id uuid primary key,
  email text collate "C" not null unique check (email = lower(email)),
  password_hash text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table memberships (
  id uuid primary key,
  organization_id uuid not null references organizations,
  user_id uuid not null references users,
  email text collate "C" not null,
  role smallint not null check (role in (10, 20, 30, 40)),
  first_name text collate "C" not null,
  last_name text collate "C" not null,
  phone_number text collate "C" not null,
  search text collate "C" not null,
  joined_at timestamptz not null,
  closed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (organization_id, user_id)
);
create index memberships_user on memberships (user_id);

create table audit_log (
  id bigint generated always as identity primary key,
  organization_id uuid not null references organizations,
  action smallint not null check (action in (0, 1, 2)),
  actor_type text not null check (actor_type in ('partners', 'users', 'system')),
  actor_user_id uuid,
  actor_user jsonb,
  integration_id uuid,
  integration_name text,
  content_type smallint not null,
  object_pk uuid not null,
  object_repr text not null,
  search text collate "C" not null,
  timestamp timestamptz not null,
  correlation_id text,
  remote_addr text,
  changes_summary text not null,
  changes jsonb not null,
  additional_data jsonb not null
);
create index audit_log_time on audit_log (organization_id, timestamp desc, id desc);
create index audit_log_object on audit_log (organization_id, content_type, timestamp desc);
create index audit_log_action on audit_log (organization_id, action, timestamp desc);
create index audit_log_actor on audit_log (organization_id, actor_user_id, timestamp desc) where actor_user_id is not null;
create index audit_log_integration on audit_log (organization_id, integration_id, timestamp desc)
  where integration_id is not null;
create index audit_log_search on audit_log using gin (search gin_trgm_ops);

create table idempotency_keys (
  principal_id uuid not null,
  method text not null,
  path text not null,
  key text not null,
  body_hash bytea not null,
  status smallint not null,
  body text not null,
  content_type text not null,
  location text,
  created_at timestamptz not null,
  primary key (principal_id, method, path, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- `used` counts calls that were made and calls that are leased to a process and not made yet.
create table rate_windows (
  principal_id uuid not null,
  policy text not null,
  started_at timestamptz not null,
  used int not null,
  primary key (principal_id, policy)
);

create table failed_attempts (
  kind text not null,
  subject text not null,
  started_at timestamptz not null,
  failures int not null,
  primary key (kind, subject)
);
create index failed_attempts_age on failed_attempts (started_at);
