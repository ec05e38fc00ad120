-- Lists of the console that read more the larger the organization was.

-- Many packets tell of the battery, and an index on its value would be written with each of them. The band it lies in changes
-- seldom: below 20 %, below 50 %, the others. What is no number is as good as never reported.
alter table device_state add column battery_band smallint generated always as (
  case when jsonb_typeof(last_status #> '{bat,value}') = 'number' then
    case when (last_status #> '{bat,value}')::float8 < 20 then 1
      when (last_status #> '{bat,value}')::float8 < 50 then 2 else 3 end
  end) stored;
create index device_state_battery on device_state (organization_id, battery_band, device_id) where is_live;
