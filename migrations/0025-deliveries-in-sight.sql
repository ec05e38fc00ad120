-- What an administrator sees of deliveries, and a webhook that waits.

-- A paused webhook keeps its rows, and its epoch with them; the lane says it too, because workers claim by lanes.
alter table integrations add column webhook_paused boolean not null default false;
alter table outbound_lanes add column is_paused boolean not null default false;

-- An attempt says what it was about, so that a list of attempts reads no log; null in rows of before.
alter table delivery_attempts add column type text collate "C";
alter table delivery_attempts add column device_uid text collate "C";
create index delivery_attempts_event on delivery_attempts (integration_id, event_id, id);
create index delivery_attempts_device on delivery_attempts (integration_id, device_uid, id);
create index delivery_attempts_failed on delivery_attempts (integration_id, id) where error is not null;
