-- What devices send, and which process speaks with them.
-- Hot tables carry device_id first in their key and refer to no other table: a foreign key would be the dearest part of an
-- ingest transaction, and the device is known when a packet is taken.

create table locations (
  device_id uuid not null,
  ts timestamptz not null,
  id uuid not null,
  organization_id uuid not null,
  device_ts timestamptz,
  received_at timestamptz not null,
  lat double precision not null,
  lng double precision not null,
  altitude_m real,
  speed_kmh real,
  heading smallint,
  accuracy_m real,
  source text not null,
  satellites smallint,
  is_valid boolean not null,
  invalid_reason text,
  is_moving boolean,
  mcc smallint,
  mnc smallint,
  carrier text,
  address text,
  primary key (device_id, ts, id)
) partition by range (ts);

create table telemetry (
  device_id uuid not null,
  ts timestamptz not null,
  id uuid not null,
  organization_id uuid not null,
  device_ts timestamptz,
  received_at timestamptz not null,
  data jsonb not null,
  primary key (device_id, ts, id)
) partition by range (ts);

create table events (
  device_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  event_type smallint not null,
  severity smallint not null,
  ts timestamptz not null,
  device_ts timestamptz,
  title text not null,
  message text not null,
  fence_id uuid,
  fence_name text,
  threshold_id uuid,
  metric_key text,
  value double precision,
  location jsonb,
  data jsonb not null,
  search text collate "C" not null,
  acknowledged_at timestamptz,
  acknowledged_by uuid,
  notes text,
  created_at timestamptz not null,
  deleted_at timestamptz,
  primary key (device_id, id)
);
create index events_time on events (organization_id, ts, id) where deleted_at is null;
create index events_device_time on events (device_id, ts, id) where deleted_at is null;
create index events_id on events (organization_id, id);
-- Events are never purged, and what a filter asks for may be rare: a page of it would walk the history of the organization.
-- Measured at 100,000 events, 100 of them SOS: 55 ms without these indexes, 1 ms with them; an insert costs 47 us instead of 21.
create index events_type_time on events (organization_id, event_type, ts, id) where deleted_at is null;
create index events_severity_time on events (organization_id, severity, ts, id) where deleted_at is null;
create index events_fence_time on events (organization_id, fence_id, ts, id)
  where deleted_at is null and fence_id is not null;
create index events_acknowledged_time on events (organization_id, ts, id)
  where deleted_at is null and acknowledged_at is not null;
create index events_open_time on events (organization_id, ts, id) where deleted_at is null and acknowledged_at is null;
create index events_search on events using gin (search gin_trgm_ops) where deleted_at is null;

-- One row per packet that has a device time: a packet that is sent again finds its row and makes no other.
-- The day is that of the device's own clock, so that the same bytes always look in the same place.
create table ingest_frames (
  device_id uuid not null,
  device_day date not null,
  frame_key uuid not null,
  received_at timestamptz not null,
  primary key (device_id, device_day, frame_key)
) partition by range (device_day);
create table ingest_frames_default partition of ingest_frames default;

-- One row per transaction of packets, written in it: after a commit whose answer was lost, the next attempt finds the row and
-- stores nothing twice. Rows of an hour ago are deleted.
create table ingest_batches (
  id uuid primary key,
  committed_at timestamptz not null
);
create index ingest_batches_time on ingest_batches (committed_at);

-- A packet that could not be stored, kept for inspection. Its device was answered: it would send the same bytes for ever.
create table poisoned_packets (
  id uuid primary key,
  organization_id uuid not null,
  device_id uuid not null,
  protocol text not null,
  reason text not null,
  frame bytea not null,
  received_at timestamptz not null
);
create index poisoned_packets_time on poisoned_packets (received_at);

create table unknown_devices (
  imei text not null,
  protocol text not null,
  remote_addr text not null,
  count bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (imei, protocol)
);
create index unknown_devices_time on unknown_devices (last_seen_at);

create table gateway_nodes (
  id uuid primary key,
  started_at timestamptz not null,
  lease_until timestamptz not null
);

-- The newest connection of a device wins: each one raises the epoch, and a process whose epoch is older lets go.
create table device_sessions (
  device_id uuid primary key,
  organization_id uuid not null,
  node_id uuid not null,
  -- Who held the device before, to be told that it is gone.
  previous_node_id uuid,
  epoch bigint not null,
  protocol text not null,
  remote_addr text not null,
  connected_at timestamptz not null,
  disconnected_at timestamptz
);
create index device_sessions_node on device_sessions (node_id) where disconnected_at is null;

-- Packets carry the epoch of their connection, and the write of the state row takes them only under the current one: the check
-- is part of an update that happens anyway.
alter table device_state add column session_epoch bigint not null default 0;

-- The reporting interval that the device has acknowledged widens the silence after which it counts as offline.
alter table device_state add column report_interval_seconds int;

-- Look-ups at outside services, done by the worker after the packet was stored and answered.
create table place_jobs (
  device_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  kind text not null check (kind in ('locate', 'address')),
  payload jsonb not null,
  attempts int not null,
  due_at timestamptz not null,
  created_at timestamptz not null,
  primary key (device_id, id)
);
create index place_jobs_due on place_jobs (kind, due_at);

create table place_cache (
  key text primary key,
  value jsonb,
  created_at timestamptz not null
);
create index place_cache_age on place_cache (created_at);
