import type { Db } from "../../db/database.ts";

/** Ids that devices sent and nobody has registered; for operators. */
export interface UnknownDevice {
  imei: string;
  protocol: string;
  remote_addr: string;
  count: number;
  first_seen_at: Date;
  last_seen_at: Date;
}

export const countUnknownDevices = (db: Db, rows: readonly UnknownDevice[]): Promise<number> => {
  const sorted = rows.toSorted((a, b) => (`${a.imei} ${a.protocol}` < `${b.imei} ${b.protocol}` ? -1 : 1));
  return db.run`
    insert into unknown_devices as u (imei, protocol, remote_addr, count, first_seen_at, last_seen_at)
    select * from unnest(${sorted.map((row) => row.imei)}::text[], ${sorted.map((row) => row.protocol)}::text[],
      ${sorted.map((row) => row.remote_addr)}::text[], ${sorted.map((row) => row.count)}::int8[],
      ${sorted.map((row) => row.first_seen_at)}::timestamptz[], ${sorted.map((row) => row.last_seen_at)}::timestamptz[])
    on conflict (imei, protocol) do update set remote_addr = excluded.remote_addr, count = u.count + excluded.count,
      last_seen_at = greatest(u.last_seen_at, excluded.last_seen_at)`;
};

/** The latest first. */
export const listUnknownDevices = (db: Db, limit: number): Promise<UnknownDevice[]> =>
  db.many<UnknownDevice>`
    select imei, protocol, remote_addr, count, first_seen_at, last_seen_at from unknown_devices
    order by last_seen_at desc, imei, protocol limit ${limit}`;

/** A flood of invented ids must not fill the disk. */
export const forgetUnknownDevices = (db: Db, before: Date, keep: number): Promise<number> =>
  db.run`
    delete from unknown_devices where last_seen_at < greatest(${before}::timestamptz,
      (select last_seen_at from unknown_devices order by last_seen_at desc offset ${keep} limit 1))`;
