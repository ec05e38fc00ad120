-- People who run the service, and what they look at.

-- Since when the person is an operator; null: is none. Sessions that began under another time are over.
alter table users add column operator_since timestamptz;

-- Null: a session of an operator, whose `joined_at` is then `operator_since`.
alter table browser_sessions alter column organization_id drop not null;

-- What operators do. The audit log belongs to organizations and holds their share of it; this holds all, sign-ins included.
create table operator_log (
  id bigint generated always as identity primary key,
  operator_id uuid not null,
  operator_email text not null,
  action text not null,
  -- The slug as it was then: the entry outlives the organization.
  organization text,
  object text,
  detail jsonb not null,
  at timestamptz not null,
  correlation_id text,
  remote_addr text
);

-- Processes of the service, each of which renews its row while it lives.
create table service_processes (
  id uuid primary key,
  host text not null,
  pid int not null,
  version text not null,
  roles text[] not null,
  started_at timestamptz not null,
  seen_at timestamptz not null,
  lease_until timestamptz not null,
  -- What it measured since the time before: see roles/process-registry.ts.
  figures jsonb not null
);

-- Jobs that were given up, for a look at the latest of them.
create index mails_failed on mails (finished_at) where status = 'failed';
create index messages_unspoken on messages (created_at) where failure_reason = 'tts_failed';
