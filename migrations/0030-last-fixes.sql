-- The newest position of a device that was not late when it came, for statements about many devices. A function and not a lateral
-- join, because a database that is spread over several servers refuses to join its tables with those of one server that way; and
-- in plpgsql, because a function in SQL would be made part of the statement that calls it.
create function last_timely_fix(wanted uuid, after timestamptz, until timestamptz)
returns table (lat double precision, lng double precision, ts timestamptz) stable rows 1 language plpgsql as $$
begin
  return query
    select l.lat, l.lng, l.ts from locations l
    where l.device_id = wanted and l.ts > after and l.ts <= until
      and l.is_valid and l.received_at - l.ts <= interval '15 minutes'
    order by l.ts desc limit 1;
end $$;
