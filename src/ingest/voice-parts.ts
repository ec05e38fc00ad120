import { hash } from "node:crypto";
import type { VoicePart } from "../codecs/tracker-message.ts";
import type { Db } from "../db/database.ts";
import {
  deleteParts,
  dropTransfers,
  finishTransfers,
  forgetOldest,
  insertParts,
  openTransfers,
  partsOfFinished,
  restartTransfers,
  type StoredPart,
  storedParts,
  type TransferKey,
  transferSizes,
} from "./voice-store.ts";

/**
 * Recordings of devices, part by part. The same part sent again is one part, also after its recording is complete; another part
 * under the same name begins another recording. What one device can leave behind is bounded. All parts of a batch are stored
 * together, with a few statements for all of them.
 */
export interface TakenVoicePart {
  device: Readonly<{ id: string; organization_id: string }>;
  part: VoicePart;
}

/** Parts of one recording. */
interface Group extends TransferKey {
  total: number;
  parts: VoicePart[];
}

const hashBytes = 8;
/** Ten minutes of the best narrow-band speech. */
const maxBytes = 1_000_000;
const maxParts = 2000;
const maxUnfinished = 8;

const hashOf = (bytes: Buffer): Buffer => Buffer.from(hash("sha256", bytes, "hex").slice(0, 2 * hashBytes), "hex");
const keyOf = ({ deviceId, transfer }: Pick<TransferKey, "deviceId" | "transfer">): string => `${deviceId} ${transfer}`;

/** The whole recordings, by the part with which the last one that was missing came. */
export async function storeVoiceParts(
  db: Db,
  taken: readonly TakenVoicePart[],
  now: Date,
): Promise<ReadonlyMap<VoicePart, Buffer>> {
  const finished = new Map<VoicePart, Buffer>();
  // A name that is used again within the batch is another recording: it comes with the next round.
  for (let waiting = taken; waiting.length > 0; ) {
    const { groups, rest } = groupsOf(waiting);
    const later = await storeGroups(db, groups, now, finished);
    waiting = [...later, ...rest];
  }
  return finished;
}

/** The parts that can be of one recording each, and those that come later. */
function groupsOf(taken: readonly TakenVoicePart[]): { groups: Group[]; rest: TakenVoicePart[] } {
  const groups = new Map<string, Group>();
  const split = new Set<string>();
  const rest: TakenVoicePart[] = [];
  for (const one of taken) {
    const { device, part } = one;
    const key = { deviceId: device.id, transfer: part.transfer };
    const group: Group = groups.get(keyOf(key)) ?? {
      ...key,
      organizationId: device.organization_id,
      total: part.total,
      parts: [],
    };
    const same = group.parts.find(({ sequence }) => sequence === part.sequence);
    const isOther = group.total !== part.total || (same !== undefined && !same.bytes.equals(part.bytes));
    if (split.has(keyOf(key)) || isOther) {
      split.add(keyOf(key));
      rest.push(one);
      continue;
    }
    if (!same) group.parts.push(part);
    groups.set(keyOf(key), group);
  }
  return { groups: [...groups.values()], rest };
}

/** Returns what is to be stored after these. */
async function storeGroups(
  db: Db,
  groups: readonly Group[],
  now: Date,
  finished: Map<VoicePart, Buffer>,
): Promise<TakenVoicePart[]> {
  const rows = new Map((await openTransfers(db, groups, now)).map((row) => [keyOf(row), row]));
  const asked = groups.filter((group) => {
    const row = rows.get(keyOf(group));
    return row !== undefined && !row.is_new && row.part_hashes === null && !row.is_dropped;
  });
  const stored = new Map<string, StoredPart[]>();
  for (const part of await storedParts(db, asked)) stored.set(keyOf(part), [...(stored.get(keyOf(part)) ?? []), part]);
  const later: TakenVoicePart[] = [];
  const restarted: Group[] = [];
  const open: Group[] = [];
  for (const group of groups) {
    const row = rows.get(keyOf(group));
    if (!row) continue;
    const isOther = (part: VoicePart): boolean => {
      if (row.is_new) return false;
      if (row.total !== part.total) return true;
      if (row.is_dropped) return false;
      const known = row.part_hashes
        ? row.part_hashes.subarray((part.sequence - 1) * hashBytes, part.sequence * hashBytes)
        : stored.get(keyOf(group))?.find(({ sequence }) => sequence === part.sequence)?.hash;
      return known !== undefined && !known.equals(hashOf(part.bytes));
    };
    const at = group.parts.findIndex(isOther);
    if (at === 0) {
      restarted.push(group);
      open.push(group);
      continue;
    }
    if (at > 0) {
      const device = { id: group.deviceId, organization_id: group.organizationId };
      later.push(...group.parts.splice(at).map((part) => ({ device, part })));
    }
    if (!row.part_hashes && !row.is_dropped) open.push(group);
  }
  await restartTransfers(db, restarted, now);
  await storeOpen(db, open, finished);
  await forgetOldest(db, [...new Set(open.map(({ deviceId }) => deviceId))], maxUnfinished);
  return later;
}

async function storeOpen(db: Db, open: readonly Group[], finished: Map<VoicePart, Buffer>): Promise<void> {
  if (open.length === 0) return;
  const small = open.filter(({ total }) => total <= maxParts);
  await insertParts(
    db,
    small.flatMap((group) => group.parts.map((part) => ({ ...group, sequence: part.sequence, bytes: part.bytes }))),
  );
  const sizes = new Map((await transferSizes(db, small)).map((row) => [keyOf(row), row]));
  const isLarge = (group: Group): boolean => group.total > maxParts || (sizes.get(keyOf(group))?.size ?? 0) > maxBytes;
  const large = open.filter(isLarge);
  await deleteParts(db, large);
  await dropTransfers(db, large);
  const whole = small.filter((group) => !isLarge(group) && sizes.get(keyOf(group))?.count === group.total);
  if (whole.length === 0) return;
  const bytes = new Map<string, Buffer[]>();
  for (const part of await partsOfFinished(db, whole)) {
    bytes.set(keyOf(part), [...(bytes.get(keyOf(part)) ?? []), part.bytes]);
  }
  await finishTransfers(
    db,
    whole.map((group) => ({ ...group, hashes: Buffer.concat((bytes.get(keyOf(group)) ?? []).map(hashOf)) })),
  );
  await deleteParts(db, whole);
  for (const group of whole) {
    finished.set(group.parts.at(-1) as VoicePart, Buffer.concat(bytes.get(keyOf(group)) ?? []));
  }
}
