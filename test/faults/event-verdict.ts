import type pg from "pg";
import type { NumberedDevice } from "./numbered-device.ts";
import type { WalkingDevice } from "./walking-device.ts";

interface Counted {
  uid: string;
  n: string;
  event_type: number;
  count: string;
}

/** Every event of an acknowledged packet once, none without its packet, and presence that alternates. */
export async function verifyEvents(
  client: pg.Client,
  fleet: readonly NumberedDevice[],
  walking: readonly WalkingDevice[],
): Promise<boolean> {
  const { rows } = await client.query<Counted>(
    `select d.uid, extract(epoch from e.ts)::bigint as n, e.event_type, count(*) from events e join devices d on d.id = e.device_id
     where e.event_type in (10, 80, 90) group by 1, 2, 3`,
  );
  const found = new Map(rows.map(({ uid, n, event_type, count }) => [`${uid} ${n} ${event_type}`, Number(count)]));
  const wanted = [
    ...fleet.flatMap((device) =>
      [...device.acknowledged].filter((n) => device.isSos(n)).map((n) => `${device.uid} ${device.timeOf(n) / 1000} 10`),
    ),
    ...walking.flatMap(({ uid, crossings }) =>
      crossings.map(({ ts, isExit }) => `${uid} ${ts / 1000} ${isExit ? 90 : 80}`),
    ),
  ];
  const lost = wanted.filter((key) => !found.has(key)).length;
  const doubled = [...found.values()].reduce((sum, count) => sum + count - 1, 0);
  const orphans = await client.query(
    `select e.id from events e where e.event_type in (10, 80, 90)
     and (e.device_id, e.ts) not in (select device_id, ts from locations)`,
  );
  const crossings = walking.reduce((sum, device) => sum + device.crossings.length, 0);
  console.log(
    `  ${wanted.length - crossings} calls for help and ${crossings} crossings acknowledged: ${lost} events lost, ${doubled} doubled, ${orphans.rows.length} without a packet`,
  );
  const isPresenceRight = await verifyPresence(client);
  return lost === 0 && doubled === 0 && orphans.rows.length === 0 && isPresenceRight;
}

async function verifyPresence(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ device_id: string; event_type: number; is_online: boolean }>(
    `select e.device_id, e.event_type, s.is_online from events e join device_state s on s.device_id = e.device_id
     where e.event_type in (60, 70) order by e.device_id, e.ts, e.created_at, e.id`,
  );
  let wrong = 0;
  for (const [index, { device_id, event_type, is_online }] of rows.entries()) {
    const previous = rows[index - 1];
    const isFirst = previous?.device_id !== device_id;
    const isLast = rows[index + 1]?.device_id !== device_id;
    if (isFirst ? event_type !== 60 : event_type === previous?.event_type) wrong++;
    if (isLast && (event_type === 60) !== is_online) wrong++;
  }
  console.log(`  ${rows.length} changes of presence: ${wrong} out of turn`);
  return wrong === 0;
}
