-- ECG recordings and the parts they arrive in.

create table ecg_recordings (
  device_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  -- What the device calls the recording. Together with the number of parts, the rate and the scale it tells recordings apart.
  transfer text collate "C" not null,
  total int not null check (total > 0),
  sampling_rate_hz double precision not null check (sampling_rate_hz > 0),
  scale_uv double precision not null check (scale_uv > 0),
  ts timestamptz not null,
  device_ts timestamptz,
  -- The device's clock where it is plausible, else the reception of the first part.
  started_at timestamptz not null,
  received_at timestamptz not null,
  last_part_at timestamptz not null,
  status text not null check (status in ('receiving', 'complete', 'incomplete')),
  sample_count int not null,
  duration_ms bigint not null,
  leads text[] not null,
  avg_hr int,
  classification text collate "C" not null,
  classification_source text,
  quality text not null,
  device_info jsonb not null,
  notes text,
  -- Null until partners were told; they are told once.
  event_id uuid,
  -- Raised by each change of the samples or the status.
  revision int not null,
  search text collate "C" not null,
  primary key (device_id, id)
);
create index ecg_recordings_time on ecg_recordings (device_id, ts, id);
create index ecg_recordings_transfer on ecg_recordings (device_id, transfer);
create index ecg_recordings_open on ecg_recordings (last_part_at) where status = 'receiving';

-- Samples are signed 16-bit big-endian, as they came. A part is written once and never changed.
create table ecg_parts (
  device_id uuid not null,
  recording_id uuid not null,
  lead smallint not null,
  sequence smallint not null,
  organization_id uuid not null,
  sample_count int not null,
  samples bytea not null,
  received_at timestamptz not null,
  primary key (device_id, recording_id, lead, sequence)
);
