/** Where the ids of one integration stand. */
export interface LanePosition {
  lane: number;
  lastMs: number;
  lastSeq: number;
}

export interface LaneId {
  text: string;
  bytes: Buffer;
}

/** 34 bits of counter: 12 beside the version, 22 beside the variant. */
export const seqsPerMs = 2 ** 34;
const lowBits = 2 ** 22;

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");

/**
 * The next ids of a lane: UUIDs of version 7 whose random part is a counter and the number of the lane. The millisecond stands
 * still while they are made; who took the numbers has seen to it that they are above the last ones, whatever the clock says.
 */
export function makeLaneIds({ lane, lastMs, lastSeq }: LanePosition): () => LaneId {
  let seq = lastSeq;
  let high = -1;
  let head = "";
  const time = hex(lastMs, 12);
  const tail = `${hex(lane, 8)}00`;
  const template = Buffer.alloc(16);
  template.writeUIntBE(lastMs, 0, 6);
  template.writeUInt32BE(lane, 11);
  return () => {
    seq++;
    if (seq >= seqsPerMs) throw new RangeError("the ids of this millisecond are exhausted");
    const top = Math.floor(seq / lowBits);
    if (top !== high) {
      high = top;
      template.writeUInt16BE(0x7000 | high, 6);
      head = `${time.slice(0, 8)}-${time.slice(8)}-7${hex(high, 3)}-`;
    }
    const low = 0x800000 + (seq - high * lowBits);
    const bytes = Buffer.from(template);
    bytes.writeUIntBE(low, 8, 3);
    const digits = low.toString(16);
    return { text: `${head}${digits.slice(0, 4)}-${digits.slice(4)}${tail}`, bytes };
  };
}

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
