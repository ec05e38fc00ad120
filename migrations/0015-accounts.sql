-- Accounts of people: sessions of browsers, password resets, a second factor, and what a person prefers.

alter table users add column password_changed_at timestamptz;
-- Null: the browser's, then the organization's.
alter table users add column locale text;
alter table users add column timezone text;
alter table users add column alarm_mail text not null default 'off' check (alarm_mail in ('off', 'critical', 'warning'));

create table browser_sessions (
  id uuid primary key,
  token_hash bytea not null unique,
  user_id uuid not null references users,
  organization_id uuid not null references organizations,
  -- That of the membership when the session began: a membership that is closed and opened again needs a new session.
  joined_at timestamptz not null,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  ip text not null,
  user_agent text not null
);
create index browser_sessions_user on browser_sessions (user_id);
create index browser_sessions_organization on browser_sessions (organization_id);
create index browser_sessions_last_use on browser_sessions (last_used_at);

create table password_resets (
  token_hash bytea primary key,
  user_id uuid not null references users,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index password_resets_user on password_resets (user_id);
create index password_resets_expiry on password_resets (expires_at);

-- The secret is sealed (see lib/secret-box.ts). Until it is confirmed it is not asked for.
create table second_factors (
  user_id uuid primary key references users,
  sealed_secret text not null,
  created_at timestamptz not null,
  confirmed_at timestamptz,
  -- The time step of the last code that was accepted: a code works once.
  last_step bigint not null default 0
);

create table recovery_codes (
  user_id uuid not null references users,
  code_hash bytea not null,
  used_at timestamptz,
  primary key (user_id, code_hash)
);
