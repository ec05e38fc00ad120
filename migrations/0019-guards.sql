-- Bounds on what one device can do to the database, and how long an organization keeps its history.

-- A packet that was set aside may be tried again; what its alarm made is not made twice then.
alter table poisoned_packets add column has_event boolean not null default false;
create index poisoned_packets_device on poisoned_packets (device_id, received_at);

-- Bytes of voice and ECG that were taken from a device in a day.
create table device_media_days (
  device_id uuid not null,
  day date not null,
  organization_id uuid not null,
  bytes bigint not null,
  primary key (device_id, day)
);
create index device_media_days_day on device_media_days (day);

-- A part is looked up by all that tells its recording apart. By the name alone, a device with many recordings of one name
-- made every batch read and lock all of them.
create index ecg_recordings_form on ecg_recordings (device_id, transfer, total, sampling_rate_hz, scale_uv, id);
drop index ecg_recordings_transfer;
create index ecg_recordings_device_open on ecg_recordings (device_id, last_part_at) where status = 'receiving';

-- Days by kind of history; what is not named is kept.
alter table organizations add column retention jsonb not null default '{}';
