-- Messages between people and devices, and the recordings that belong to them.

create table messages (
  device_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  -- The order of creation, in which a device gets its messages.
  position bigint not null generated always as identity,
  direction text not null check (direction in ('inbound', 'outbound')),
  message_type text not null check (message_type in ('text', 'voice')),
  status text not null check (status in ('pending', 'processing', 'ready', 'sending', 'delivered', 'failed')),
  text text,
  is_tts boolean not null default false,
  -- What a text is spoken in.
  language text,
  voice text,
  -- Of the recording; null while there is none.
  mime_type text,
  duration_ms int,
  size_bytes int,
  sender_user_id uuid,
  sender_name text not null,
  failure_reason text,
  -- Sent by a command, and not by the message lane.
  command_uuid uuid,
  ts timestamptz not null,
  created_at timestamptz not null,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  expires_at timestamptz,
  -- The connection that is sending it, and the serial the device answers with.
  wire_epoch bigint,
  wire_serial text,
  -- The job of speaking its text: when it may be taken, and how often it was.
  speech_due_at timestamptz,
  speech_attempts smallint not null default 0,
  search text collate "C" not null,
  deleted_at timestamptz,
  primary key (device_id, id)
);
create index messages_time on messages (device_id, ts, id) where deleted_at is null;
create index messages_created on messages (device_id, created_at, id) where deleted_at is null;
create index messages_search on messages using gin (search gin_trgm_ops) where deleted_at is null;
create index messages_waiting on messages (device_id, position)
  where status in ('pending', 'processing', 'ready', 'sending') and command_uuid is null;
create index messages_expiring on messages (expires_at)
  where status in ('pending', 'processing', 'ready', 'sending') and command_uuid is null;
create index messages_speech on messages (speech_due_at) where speech_due_at is not null;
create index messages_command on messages (device_id, command_uuid) where command_uuid is not null;

-- Apart from the message, so that no list reads it.
create table message_audio (
  device_id uuid not null,
  message_id uuid not null,
  organization_id uuid not null,
  bytes bytea not null,
  primary key (device_id, message_id)
);
-- Recordings are compressed as they are.
alter table message_audio alter column bytes set storage external;

-- Recordings of devices on their way in. A part is answered when it is stored here. A finished recording stays known by the
-- hashes of its parts, so that what a device sends again is not another message.
create table voice_transfers (
  device_id uuid not null,
  transfer text not null,
  organization_id uuid not null,
  total int not null,
  -- Eight bytes per part, in their order; null while parts are missing.
  part_hashes bytea,
  -- Too large to be kept: its parts are answered and forgotten.
  is_dropped boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (device_id, transfer)
);
create index voice_transfers_time on voice_transfers (updated_at);

create table voice_parts (
  device_id uuid not null,
  transfer text not null,
  sequence int not null,
  organization_id uuid not null,
  bytes bytea not null,
  primary key (device_id, transfer, sequence)
);
alter table voice_parts alter column bytes set storage external;
