import { MalformedFrame } from "../malformed-frame.ts";
import type { FrameReport } from "../protocol-definition.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { fromParts, readHeading } from "../wire/coordinates.ts";
import { readOldRecord } from "./old-record.ts";
import { type IoValue, recordMessages } from "./record-messages.ts";

const CODEC_OLD = 0x07;
const CODEC_8 = 0x08;
const CODEC_16 = 0x10;
const CODEC_8_EXTENDED = 0x8e;

export const recordCodecs: ReadonlySet<number> = new Set([CODEC_OLD, CODEC_8, CODEC_16, CODEC_8_EXTENDED]);

/**
 * From the codec to the second number of records. Some firmware adds a group of 16-byte values without saying so: what does not
 * come out even without it is read with it.
 */
export function readRecords(content: Buffer): FrameReport[] {
  if (content[0] === CODEC_OLD) return readAll(content, (reader) => readOldRecord(reader));
  try {
    return readAll(content, (reader, codec) => readRecord(reader, codec, [1, 2, 4, 8]));
  } catch (error) {
    if (!(error instanceof MalformedFrame)) throw error;
    return readAll(content, (reader, codec) => readRecord(reader, codec, [1, 2, 4, 8, 16]));
  }
}

type ReadRecord = (reader: ByteReader, codec: number) => FrameReport["messages"];

function readAll(content: Buffer, read: ReadRecord): FrameReport[] {
  const reader = new ByteReader(content);
  const codec = reader.u8();
  const count = reader.u8();
  const reports: FrameReport[] = [];
  while (reports.length < count) {
    const start = reader.offset;
    const messages = read(reader, codec);
    reports.push({ messages, raw: content.subarray(start, reader.offset) });
  }
  if (reader.u8() !== count || reader.remaining > 0) throw new MalformedFrame("records that do not fill the frame");
  return reports;
}

function readRecord(reader: ByteReader, codec: number, sizes: readonly number[]): FrameReport["messages"] {
  const timeMs = Number(reader.u64());
  const priority = reader.u8();
  const lng = fromParts(reader.i32(), 1e7);
  const lat = fromParts(reader.i32(), 1e7);
  const altitudeM = reader.i16();
  const heading = readHeading(reader.u16());
  const satellites = reader.u8();
  const speedKmh = reader.u16();
  const isWide = codec !== CODEC_8;
  const eventId = isWide ? reader.u16() : reader.u8();
  if (codec === CODEC_16) reader.skip(1);
  const io = readIo(reader, codec, sizes);
  const gps = satellites === 0 ? null : { lat, lng, altitudeM, speedKmh, heading, accuracyM: null, satellites };
  return recordMessages({ timeMs, priority, gps, satellites, eventId, io });
}

/** Values in groups of their sizes; the extended codec has a last group whose values tell their own. */
function readIo(reader: ByteReader, codec: number, sizes: readonly number[]): Map<number, IoValue> {
  const isExtended = codec === CODEC_8_EXTENDED;
  const count = (): number => (isExtended ? reader.u16() : reader.u8());
  const id = (): number => (codec === CODEC_8 ? reader.u8() : reader.u16());
  const io = new Map<number, IoValue>();
  count();
  for (const size of sizes) {
    for (let left = count(); left > 0; left--) io.set(id(), readValue(reader, size));
  }
  if (isExtended) for (let left = count(); left > 0; left--) io.set(id(), reader.hex(reader.u16()));
  return io;
}

/** Numbers that JSON holds exactly; the rest as hex. */
function readValue(reader: ByteReader, size: number): IoValue {
  if (size === 1) return reader.u8();
  if (size === 2) return reader.u16();
  if (size === 4) return reader.u32();
  if (size !== 8) return reader.hex(size);
  const value = reader.u64();
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value.toString(16).padStart(16, "0");
}
