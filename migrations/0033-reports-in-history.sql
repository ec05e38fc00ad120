-- The id of a position tells the report that it is of: its last five bytes are those of the report's key. Such a report has no row in
-- ingest_frames, unless it had to be looked for, and is looked for among the positions of its device at its time.
--
-- A report that is later than the newest one is not looked for at all. Where that one is not known, it must not be taken for earlier
-- than a position that is stored. One device after the other, because positions may be on other nodes of the database.
do $$
declare
  unknown uuid;
  latest timestamptz;
begin
  for unknown in select device_id from device_state where newest_report_at is null and last_seen_at is not null loop
    select ts into latest from locations where device_id = unknown order by ts desc limit 1;
    if latest is not null then
      update device_state set newest_report_at = latest where device_id = unknown;
    end if;
  end loop;
end $$;
