-- The state row is written with every packet. The gateway that holds a device knows the row and writes it whole, so the database
-- need not take JSON apart: `json` is kept as it comes, and what statements compare stands in columns of its own.

alter table device_state alter column battery_band drop expression;
alter table device_state add column located_at timestamptz;
-- No report of the device that was stored has a later time of the device's clock: one that has is certainly new.
alter table device_state add column newest_report_at timestamptz;

alter table device_state
  alter column last_status type json using last_status::json,
  alter column last_location type json using last_location::json;

update device_state set located_at = (last_location->>'ts')::timestamptz where last_location is not null;

-- A table between them: where packets are spread over several machines, one statement cannot name both.
create temporary table newest_reports on commit drop as
  select device_id, max(device_day) + 1 as newest_report_at from ingest_frames group by device_id;
update device_state s set newest_report_at = n.newest_report_at from newest_reports n where n.device_id = s.device_id;
