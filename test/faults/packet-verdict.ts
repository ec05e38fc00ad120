import type pg from "pg";
import type { NumberedDevice } from "./numbered-device.ts";

interface Counts {
  uid: string;
  n: string;
  count: string;
}

/** Acknowledged packets that are not in the tables, and rows that are there twice. */
export async function verifyPackets(
  client: pg.Client,
  fleet: readonly NumberedDevice[],
): Promise<{ lost: number; doubled: number }> {
  const timed = async (table: string): Promise<Counts[]> =>
    (
      await client.query<Counts>(
        `select d.uid, extract(epoch from t.device_ts)::bigint as n, count(*) from ${table} t join devices d on d.id = t.device_id
         where t.device_ts < now() - interval '10 days' group by 1, 2`,
      )
    ).rows;
  const untimed = await client.query<Counts>(
    `select d.uid, t.data->>'steps' as n, count(*) from telemetry t join devices d on d.id = t.device_id
     where t.data ? 'steps' group by 1, 2`,
  );
  let lost = 0;
  let doubled = 0;
  const compare = (rows: readonly Counts[], hasClock: boolean): void => {
    const numbered = fleet.filter((one) => one.hasClock === hasClock);
    const uids = new Set(numbered.map(({ uid }) => uid));
    const own = rows.filter(({ uid }) => uids.has(uid));
    const found = new Map(own.map(({ uid, n, count }) => [`${uid} ${n}`, Number(count)]));
    for (const device of numbered) {
      for (const n of device.acknowledged) {
        if (!found.has(`${device.uid} ${hasClock ? device.timeOf(n) / 1000 : n}`)) lost++;
      }
    }
    for (const count of found.values()) if (count > 1) doubled += count - 1;
  };
  compare(await timed("locations"), true);
  compare(untimed.rows, false);
  return { lost, doubled };
}
