-- What devices are told to do. A command is a row first; its states only move forward.

create table commands (
  device_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  -- The order in which a device gets its commands, and what its serial on the wire is made of.
  number bigint not null generated always as identity,
  command_type text collate "C" not null,
  params jsonb not null,
  status text collate "C" not null check (status in ('pending', 'sending', 'sent', 'ack_ok', 'ack_error', 'timeout')),
  attempts int not null default 0,
  -- Words of the device that are still missing: [{"word": "AP33", "echo": "1"}].
  awaited jsonb,
  ack_wait_seconds int,
  -- The gateway that wrote it. When that process has died, the command gets a full new wait.
  node_id uuid,
  is_write_broken boolean not null default false,
  result jsonb,
  error jsonb,
  sender_user_id uuid,
  created_at timestamptz not null,
  sent_at timestamptz,
  acked_at timestamptz,
  completed_at timestamptz,
  expires_at timestamptz not null,
  -- When somebody must look again: pending at its expiry, in flight at the end of the wait, a measurement at that of its
  -- reading. Null: nothing is left to do.
  due_at timestamptz,
  deleted_at timestamptz,
  primary key (device_id, id)
);
create index commands_open on commands (device_id, number) where status in ('pending', 'sending', 'sent');
-- One command of a device is under way at a time.
create unique index commands_in_flight on commands (device_id) where status in ('sending', 'sent');
create index commands_writer on commands (node_id) where status in ('sending', 'sent');
create index commands_due on commands (due_at) where due_at is not null;
create index commands_measuring on commands (device_id) where status = 'ack_ok' and due_at is not null;
create index commands_time on commands (device_id, created_at, id) where deleted_at is null;
create index commands_type_time on commands (device_id, command_type, created_at, id) where deleted_at is null;
create index commands_status_time on commands (device_id, status, created_at, id) where deleted_at is null;

-- Watches know no daylight saving: a zone that was set by its name is sent again when its offset changes.
alter table device_settings add column send_again_at timestamptz;
create index device_settings_send_again on device_settings (send_again_at) where send_again_at is not null;
