import { hash } from "node:crypto";
import type { VoicePart } from "../codecs/tracker-message.ts";
import type { Db } from "../db/database.ts";

/**
 * Recordings of devices, part by part. The same part sent again is one part, also after its recording is complete; another part
 * under the same name begins another recording. What one device can leave behind is bounded.
 */
type Target = Readonly<{ id: string; organization_id: string }>;

interface TransferRow {
  total: number;
  part_hashes: Buffer | null;
  is_dropped: boolean;
  is_new: boolean;
}

const hashBytes = 8;
/** Ten minutes of the best narrow-band speech. */
const maxBytes = 1_000_000;
const maxParts = 2000;
const maxUnfinished = 8;

const hashOf = (bytes: Buffer): Buffer => Buffer.from(hash("sha256", bytes, "hex").slice(0, 2 * hashBytes), "hex");

/** The whole recording, when this part was the last one missing. */
export async function storeVoicePart(db: Db, device: Target, part: VoicePart, now: Date): Promise<Buffer | undefined> {
  const { transfer, total, sequence, bytes } = part;
  let known = await openTransfer(db, device, part, now);
  if (!known.is_new && (known.total !== total || (await isOther(db, device, part, known)))) {
    await forget(db, device, transfer);
    known = await openTransfer(db, device, part, now);
  }
  if (known.part_hashes || known.is_dropped) return undefined;
  if (known.is_new) await forgetOldest(db, device, transfer);
  await db.run`
    insert into voice_parts (device_id, transfer, sequence, organization_id, bytes)
    values (${device.id}, ${transfer}, ${sequence}, ${device.organization_id}, ${bytes})
    on conflict (device_id, transfer, sequence) do nothing`;
  const { count, size } = await db.one<{ count: number; size: number }>`
    select count(*) as count, coalesce(sum(octet_length(bytes)), 0) as size from voice_parts
    where device_id = ${device.id} and transfer = ${transfer}`;
  if (size > maxBytes || total > maxParts) {
    await deleteParts(db, device, transfer);
    await db.run`
      update voice_transfers set is_dropped = true where device_id = ${device.id} and transfer = ${transfer}`;
    return undefined;
  }
  return count === total ? finish(db, device, transfer) : undefined;
}

/** Locked until the batch commits. */
async function openTransfer(db: Db, device: Target, { transfer, total }: VoicePart, now: Date): Promise<TransferRow> {
  return db.one<TransferRow>`
    insert into voice_transfers as t (device_id, transfer, organization_id, total, created_at, updated_at)
    values (${device.id}, ${transfer}, ${device.organization_id}, ${total}, ${now}, ${now})
    on conflict (device_id, transfer) do update set updated_at = excluded.updated_at
    returning total, part_hashes, is_dropped, xmax = 0 as is_new`;
}

/** A name may be used again for something else: then what is known under it says other bytes in the same place. */
async function isOther(db: Db, device: Target, part: VoicePart, known: TransferRow): Promise<boolean> {
  if (known.is_dropped) return false;
  const own = hashOf(part.bytes);
  if (known.part_hashes) {
    const at = (part.sequence - 1) * hashBytes;
    return !known.part_hashes.subarray(at, at + hashBytes).equals(own);
  }
  const stored = await db.maybeOne<{ bytes: Buffer }>`
    select bytes from voice_parts
    where device_id = ${device.id} and transfer = ${part.transfer} and sequence = ${part.sequence}`;
  return stored !== undefined && !stored.bytes.equals(part.bytes);
}

async function finish(db: Db, device: Target, transfer: string): Promise<Buffer> {
  const parts = await db.many<{ bytes: Buffer }>`
    select bytes from voice_parts where device_id = ${device.id} and transfer = ${transfer} order by sequence`;
  const hashes = Buffer.concat(parts.map(({ bytes }) => hashOf(bytes)));
  await db.run`
    update voice_transfers set part_hashes = ${hashes} where device_id = ${device.id} and transfer = ${transfer}`;
  await deleteParts(db, device, transfer);
  return Buffer.concat(parts.map(({ bytes }) => bytes));
}

const deleteParts = (db: Db, device: Target, transfer: string): Promise<number> =>
  db.run`delete from voice_parts where device_id = ${device.id} and transfer = ${transfer}`;

async function forget(db: Db, device: Target, transfer: string): Promise<void> {
  await deleteParts(db, device, transfer);
  await db.run`delete from voice_transfers where device_id = ${device.id} and transfer = ${transfer}`;
}

/** A device that begins recordings and ends none keeps the newest ones. */
async function forgetOldest(db: Db, device: Target, except: string): Promise<void> {
  const old = await db.many<{ transfer: string }>`
    select transfer from voice_transfers
    where device_id = ${device.id} and part_hashes is null and not is_dropped and transfer <> ${except}
    order by updated_at desc offset ${maxUnfinished - 1}`;
  for (const { transfer } of old) await forget(db, device, transfer);
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
