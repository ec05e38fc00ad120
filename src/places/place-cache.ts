import { createHash } from "node:crypto";
import type { Db } from "../db/database.ts";
import type { LocatePayload } from "./place-job.ts";

/**
 * Answers of the outside services, shared by all processes. A null value is an answer too: the service did not know. It is kept
 * for a shorter time, because services learn.
 */
const dayMs = 86_400_000;
const knownForMs = 30 * dayMs;
const unknownForMs = dayMs;

/** The same networks around mean the same place, whatever their order and strength. */
export function networksKey({ cells, access_points }: LocatePayload): string {
  const names = [
    ...cells.map(({ mcc, mnc, lac, cid }) => `${mcc}-${mnc}-${lac}-${cid}`),
    ...access_points.map(({ mac }) => mac),
  ];
  const set = [...new Set(names)].toSorted().join(" ");
  return `networks:${createHash("sha256").update(set).digest("base64url")}`;
}

const cellM = 25;
const metresPerDegree = 111_195;

/** Points in the same cell of a grid share an address. The cells are about 25 m wide everywhere. */
export function gridKey(lat: number, lng: number): string {
  const row = Math.round((lat * metresPerDegree) / cellM);
  const rowLat = (row * cellM) / metresPerDegree;
  const metresPerDegreeEast = metresPerDegree * Math.max(Math.cos((rowLat * Math.PI) / 180), 0.001);
  return `grid:${row}:${Math.round((lng * metresPerDegreeEast) / cellM)}`;
}

/** Where the device's last address was looked up. */
export const deviceKey = (deviceId: string): string => `device:${deviceId}`;

/** Undefined: nobody has asked, or too long ago. */
export async function findPlace<T extends object>(db: Db, key: string, now: Date): Promise<T | null | undefined> {
  const row = await db.maybeOne<{ value: T | null }>`
    select value from place_cache
    where key = ${key} and created_at > ${new Date(now.getTime() - knownForMs)}
      and (value is not null or created_at > ${new Date(now.getTime() - unknownForMs)})`;
  return row?.value;
}

export const writePlace = (db: Db, key: string, value: object | null, now: Date): Promise<number> =>
  db.run`
    insert into place_cache (key, value, created_at) values (${key}, ${value}, ${now})
    on conflict (key) do update set value = excluded.value, created_at = excluded.created_at`;

export const deleteOldPlaces = (db: Db, now: Date, limit: number): Promise<number> =>
  db.run`
    delete from place_cache where key in (
      select key from place_cache where created_at <= ${new Date(now.getTime() - knownForMs)}
      order by created_at limit ${limit})`;
