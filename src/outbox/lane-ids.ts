/** Where the ids of one integration stand. */
export interface LanePosition {
  lane: number;
  lastMs: number;
  lastSeq: number;
}

/**
 * Ids of a lane are UUIDs of version 7 whose random part is a counter of 34 bits, 12 beside the version and 22 beside the variant,
 * and the number of the lane. They are made in the database; see numbered-rows.ts.
 */
const seqsPerMs = 2 ** 34;
const lowBits = 2 ** 22;

/** The counter is given out in blocks, one for each lane and statement. */
export const blockBits = 16;
export const blocksPerMs = seqsPerMs / 2 ** blockBits;

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");

/** The id of a position. */
export function laneIdAt({ lane, lastMs, lastSeq }: LanePosition): string {
  const time = hex(lastMs, 12);
  const top = Math.floor(lastSeq / lowBits);
  const low = hex(0x800000 + (lastSeq - top * lowBits), 6);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(top, 3)}-${low.slice(0, 4)}-${low.slice(4)}${hex(lane, 8)}00`;
}

/** Where in its lane an id stands. */
export function positionOfLaneId(id: string): { ms: number; seq: number } {
  const digits = id.replaceAll("-", "");
  const top = Number.parseInt(digits.slice(13, 16), 16);
  const low = Number.parseInt(digits.slice(16, 22), 16) % lowBits;
  return { ms: Number.parseInt(digits.slice(0, 12), 16), seq: top * lowBits + low };
}
