import type { Db } from "../db/database.ts";

/** The SQL of recordings on their way in: each statement is for all recordings of a batch. */

export interface TransferKey {
  deviceId: string;
  transfer: string;
  organizationId: string;
}

type Key = Pick<TransferKey, "deviceId" | "transfer">;

export interface TransferRow extends Key {
  total: number;
  part_hashes: Buffer | null;
  is_dropped: boolean;
  is_new: boolean;
}

export interface StoredPart extends Key {
  sequence: number;
  /** The first eight bytes of its SHA-256. */
  hash: Buffer;
}

const devices = (keys: readonly Key[]): string[] => keys.map(({ deviceId }) => deviceId);
const transfers = (keys: readonly Key[]): string[] => keys.map(({ transfer }) => transfer);
const organizations = (keys: readonly TransferKey[]): string[] => keys.map(({ organizationId }) => organizationId);

/** Locked until the batch commits. */
export const openTransfers = (
  db: Db,
  groups: readonly (TransferKey & { total: number })[],
  now: Date,
): Promise<TransferRow[]> =>
  db.many<TransferRow & Record<string, unknown>>`
    insert into voice_transfers as t (device_id, transfer, organization_id, total, created_at, updated_at)
    select device_id, transfer, organization_id, total, ${now}, ${now}
    from unnest(${devices(groups)}::uuid[], ${transfers(groups)}::text[], ${organizations(groups)}::uuid[],
      ${groups.map(({ total }) => total)}::int[]) as u(device_id, transfer, organization_id, total)
    on conflict (device_id, transfer) do update set updated_at = excluded.updated_at
    returning device_id as "deviceId", transfer, total, part_hashes, is_dropped, xmax = 0 as is_new`;

export async function storedParts(db: Db, keys: readonly Key[]): Promise<StoredPart[]> {
  if (keys.length === 0) return [];
  return db.many<StoredPart & Record<string, unknown>>`
    select p.device_id as "deviceId", p.transfer, p.sequence, substr(sha256(p.bytes), 1, 8) as hash
    from unnest(${devices(keys)}::uuid[], ${transfers(keys)}::text[]) as u(device_id, transfer)
    join voice_parts p on p.device_id = u.device_id and p.transfer = u.transfer`;
}

/** The name is used again for something else. */
export async function restartTransfers(
  db: Db,
  groups: readonly (TransferKey & { total: number })[],
  now: Date,
): Promise<void> {
  if (groups.length === 0) return;
  await deleteParts(db, groups);
  await db.run`
    update voice_transfers t
    set total = u.total, part_hashes = null, is_dropped = false, created_at = ${now}, updated_at = ${now}
    from unnest(${devices(groups)}::uuid[], ${transfers(groups)}::text[], ${groups.map(({ total }) => total)}::int[])
      as u(device_id, transfer, total)
    where t.device_id = u.device_id and t.transfer = u.transfer`;
}

export async function insertParts(
  db: Db,
  parts: readonly (TransferKey & { sequence: number; bytes: Buffer })[],
): Promise<void> {
  if (parts.length === 0) return;
  await db.run`
    insert into voice_parts (device_id, transfer, organization_id, sequence, bytes)
    select * from unnest(${devices(parts)}::uuid[], ${transfers(parts)}::text[], ${organizations(parts)}::uuid[],
      ${parts.map(({ sequence }) => sequence)}::int[], ${parts.map(({ bytes }) => bytes)}::bytea[])
    on conflict (device_id, transfer, sequence) do nothing`;
}

export async function transferSizes(db: Db, keys: readonly Key[]): Promise<(Key & { count: number; size: number })[]> {
  if (keys.length === 0) return [];
  return db.many<Key & { count: number; size: number } & Record<string, unknown>>`
    select p.device_id as "deviceId", p.transfer, count(*) as count, sum(octet_length(p.bytes)) as size
    from unnest(${devices(keys)}::uuid[], ${transfers(keys)}::text[]) as u(device_id, transfer)
    join voice_parts p on p.device_id = u.device_id and p.transfer = u.transfer
    group by p.device_id, p.transfer`;
}

export const partsOfFinished = (db: Db, keys: readonly Key[]): Promise<(Key & { bytes: Buffer })[]> =>
  db.many<Key & { bytes: Buffer } & Record<string, unknown>>`
    select p.device_id as "deviceId", p.transfer, p.bytes
    from unnest(${devices(keys)}::uuid[], ${transfers(keys)}::text[]) as u(device_id, transfer)
    join voice_parts p on p.device_id = u.device_id and p.transfer = u.transfer
    order by p.device_id, p.transfer, p.sequence`;

export async function finishTransfers(db: Db, done: readonly (Key & { hashes: Buffer })[]): Promise<void> {
  await db.run`
    update voice_transfers t set part_hashes = u.hashes
    from unnest(${devices(done)}::uuid[], ${transfers(done)}::text[], ${done.map(({ hashes }) => hashes)}::bytea[])
      as u(device_id, transfer, hashes)
    where t.device_id = u.device_id and t.transfer = u.transfer`;
}

export async function dropTransfers(db: Db, keys: readonly Key[]): Promise<void> {
  if (keys.length === 0) return;
  await db.run`
    update voice_transfers t set is_dropped = true
    from unnest(${devices(keys)}::uuid[], ${transfers(keys)}::text[]) as u(device_id, transfer)
    where t.device_id = u.device_id and t.transfer = u.transfer`;
}

export async function deleteParts(db: Db, keys: readonly Key[]): Promise<void> {
  if (keys.length === 0) return;
  await db.run`
    delete from voice_parts p using unnest(${devices(keys)}::uuid[], ${transfers(keys)}::text[]) as u(device_id, transfer)
    where p.device_id = u.device_id and p.transfer = u.transfer`;
}

/** A device that begins recordings and ends none keeps the newest ones. */
export async function forgetOldest(db: Db, deviceIds: readonly string[], kept: number): Promise<void> {
  if (deviceIds.length === 0) return;
  await db.run`
    with old as (
      select device_id, transfer from (
        select device_id, transfer, row_number() over (partition by device_id order by updated_at desc) as place
        from voice_transfers
        where device_id = any(${deviceIds}::uuid[]) and part_hashes is null and not is_dropped
      ) ranked where place > ${kept}
    ), parts as (
      delete from voice_parts p using old where p.device_id = old.device_id and p.transfer = old.transfer
    )
    delete from voice_transfers t using old where t.device_id = old.device_id and t.transfer = old.transfer`;
}

const sweepRows = 500;

/** Recordings whose missing parts never came, and what is known of finished ones. Returns how many. */
export async function deleteOldTransfers(db: Db, unfinishedBefore: Date, finishedBefore: Date): Promise<number> {
  let total = 0;
  for (let count = sweepRows; count === sweepRows; total += count) {
    const expired = await db.many<{ device_id: string; transfer: string }>`
      with old as (
        select device_id, transfer from voice_transfers
        where updated_at < ${unfinishedBefore} and (part_hashes is null or updated_at < ${finishedBefore})
        order by device_id limit ${sweepRows} for update skip locked
      ), parts as (
        delete from voice_parts p using old where p.device_id = old.device_id and p.transfer = old.transfer
      )
      delete from voice_transfers t using old where t.device_id = old.device_id and t.transfer = old.transfer
      returning t.device_id, t.transfer`;
    count = expired.length;
  }
  return total;
}
