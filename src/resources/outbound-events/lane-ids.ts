import { formatUuid } from "../../lib/ids.ts";

/** Where the ids of one integration stand. */
export interface LanePosition {
  lane: number;
  lastMs: number;
  lastSeq: number;
}

/**
 * The next id of a lane: a UUIDv7 whose random part is a counter and the number of the lane. It is above the last one whatever
 * the clock says: a clock that was set back only makes the counter go on in the millisecond of the last id.
 */
export function nextLaneId(position: LanePosition, nowMs: number): string {
  if (nowMs > position.lastMs) {
    position.lastMs = nowMs;
    position.lastSeq = 0;
  } else position.lastSeq++;
  return laneIdAt(position);
}

export function laneIdAt({ lane, lastMs, lastSeq }: LanePosition): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(lastMs, 0, 6);
  // 34 bits of counter: 12 beside the version, 22 beside the variant.
  bytes.writeUInt16BE(0x7000 | (Math.floor(lastSeq / 2 ** 22) & 0xfff), 6);
  bytes.writeUIntBE(0x800000 | (lastSeq % 2 ** 22), 8, 3);
  bytes.writeUInt32BE(lane, 11);
  return formatUuid(bytes);
}

/** Where in its lane an id stands. */
export function positionOfLaneId(id: string): { ms: number; seq: number } {
  const hex = id.replaceAll("-", "");
  const high = Number.parseInt(hex.slice(13, 16), 16);
  const low = Number.parseInt(hex.slice(16, 22), 16) % 2 ** 22;
  return { ms: Number.parseInt(hex.slice(0, 12), 16), seq: high * 2 ** 22 + low };
}
