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

/** A network whose logins are answered slowly, until then. */
export interface ThrottledNetwork {
  network: string;
  throttled_until: Date;
}

export const saveThrottledNetworks = (db: Db, rows: readonly ThrottledNetwork[]): Promise<number> => {
  const sorted = rows.toSorted((a, b) => (a.network < b.network ? -1 : 1));
  return db.run`
    insert into throttled_networks as t (network, throttled_until)
    select * from unnest(${sorted.map((row) => row.network)}::text[],
      ${sorted.map((row) => row.throttled_until)}::timestamptz[])
    on conflict (network) do update set throttled_until = greatest(t.throttled_until, excluded.throttled_until)`;
};

export const listThrottledNetworks = (db: Db, now: Date): Promise<ThrottledNetwork[]> =>
  db.many<ThrottledNetwork>`
    select network, throttled_until from throttled_networks where throttled_until > ${now} order by network`;

export const forgetThrottledNetworks = (db: Db, now: Date): Promise<number> =>
  db.run`delete from throttled_networks where throttled_until < ${now}`;

/** The latest first. */
export const listUnknownDevices = (db: Db, limit: number): Promise<UnknownDevice[]> =>
  db.many<UnknownDevice>`
    select imei, protocol, remote_addr, count, first_seen_at, last_seen_at from unknown_devices
    order by last_seen_at desc, imei, protocol limit ${limit}`;

/** One id, for somebody who knows it. What another organization has registered meanwhile is not theirs to hear of. */
export const findUnknownDevice = (db: Db, organizationId: string, imei: string): Promise<UnknownDevice[]> =>
  db.many<UnknownDevice>`
    select u.imei, u.protocol, u.remote_addr, u.count, u.first_seen_at, u.last_seen_at from unknown_devices u
    where u.imei = ${imei} and not exists (
      select from devices d where d.uid = u.imei and d.deleted_at is null and d.organization_id <> ${organizationId})
    order by u.last_seen_at desc, u.protocol`;

/** A flood of invented ids must not fill the disk. */
export const forgetUnknownDevices = (db: Db, before: Date, keep: number): Promise<number> =>
  db.run`
    delete from unknown_devices where last_seen_at < greatest(${before}::timestamptz,
      (select last_seen_at from unknown_devices order by last_seen_at desc offset ${keep} limit 1))`;
