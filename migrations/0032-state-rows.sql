-- The state row is written with every packet. The gateway that holds a device knows the row and writes it whole, so the database
-- need not take JSON apart: `json` is kept as it comes, and what statements compare stands in columns of its own.

alter table device_state alter column battery_band drop expression;
alter table device_state add column located_at timestamptz;
-- No report of the device that was stored has a later time of the device's clock: one that has is certainly new. Null: not known,
-- which the next report ends.
alter table device_state add column newest_report_at timestamptz;

alter table device_state
  alter column last_status type json using last_status::json,
  alter column last_location type json using last_location::json;

update device_state set located_at = (last_location->>'ts')::timestamptz where last_location is not null;
