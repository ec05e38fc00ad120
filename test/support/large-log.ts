import type { Client } from "pg";

/** A log with as many deliveries over the last 20 days, every tenth failed and every hundredth given up. Ids follow the time. */
export async function fillLog(
  client: Client,
  { organizationId, integrationId }: { organizationId: string; integrationId: string },
  size: number,
  now: Date,
): Promise<void> {
  const lane = (await client.query("select lane from outbound_lanes where integration_id = $1", [integrationId]))
    .rows[0];
  await client.query(
    `create temp table filling as
     select n, ms, ('${"0".repeat(15)}' || n % 997)::text as device,
       (lpad(to_hex(ms), 12, '0') || '7000' || '8' || lpad(to_hex(n % 1048576), 5, '0') || lpad(to_hex($4::int), 8, '0') || '00')::uuid as id
     from (select n, (extract(epoch from $3::timestamptz) * 1000)::bigint - ($1::bigint - n) * (20 * 86400000::bigint / $1) as ms
       from generate_series(1, $2::int) n) times`,
    [size, size, now, lane.lane],
  );
  await client.query("update filling set device = right(device, 15)");
  const owner = [integrationId, organizationId];
  await client.query(
    `insert into outbound_events (integration_id, id, organization_id, device_uid, type, occurred_at, push_epoch, body)
     select $1, id, $2, device, 'location.update', to_timestamp(ms / 1000.0), 1, '{}' from filling`,
    owner,
  );
  await client.query(
    `insert into delivery_attempts (integration_id, id, organization_id, event_id, attempt, started_at, duration_ms,
       status_code, error, type, device_uid, answer)
     select $1, (left(id::text, 14) || '7' || right(id::text, 21))::uuid, $2, id, 1, to_timestamp(ms / 1000.0), n % 400,
       case when n % 10 = 0 then 500 else 200 end, case when n % 10 = 0 then 'HTTP 500' end, 'location.update', device, 'ok'
     from filling`,
    owner,
  );
  await client.query(
    `insert into dead_letters (integration_id, id, organization_id, attempts, last_error, parked_at)
     select $1, id, $2, 5, 'HTTP 500', to_timestamp(ms / 1000.0) from filling where n % 100 = 0`,
    owner,
  );
  await client.query(
    `insert into delivery_hours (integration_id, hour, bucket, organization_id, delivered, failed)
     select $1, date_trunc('hour', to_timestamp(ms / 1000.0), 'UTC'), n % 20, $2, count(*) filter (where n % 10 <> 0),
       count(*) filter (where n % 10 = 0) from filling group by 2, 3`,
    owner,
  );
  await client.query(
    `insert into delivery_lanes (integration_id, organization_id, cursor_ms, cursor_seq)
     select $1, $2, max(ms), 0 from filling`,
    owner,
  );
  await client.query("drop table filling");
}
