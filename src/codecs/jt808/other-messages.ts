import type { Session } from "../protocol-definition.ts";
import type { DeviceInfo, TrackerMessage } from "../tracker-message.ts";
import { readBcd } from "../wire/bcd.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { readTime } from "./clock.ts";
import { clockOffsetOf, readLocation } from "./location.ts";
import { plainText, readPercent, readSignal } from "./report.ts";
import type { Jt808Traits } from "./traits.ts";

/** 0002: empty by the standard, on some units with battery and signal. */
export function readHeartbeat(body: Buffer): TrackerMessage[] {
  if (body.length < 2) return [];
  const metrics = { bat: readPercent(body.readUInt8(0)), gsm_signal: readSignal(body.readUInt8(1)) };
  return [{ kind: "vitals", deviceTimeMs: null, metrics, extra: {} }];
}

/** 0107: kind, maker, model, id, ICCID, then versions of hardware and firmware with their lengths. */
export function readAttributes(body: Buffer, is2019: boolean): TrackerMessage[] {
  const reader = new ByteReader(body);
  reader.skip(2 + 5 + (is2019 ? 30 + 30 : 20 + 7));
  const iccid = (readBcd(reader.bytes(10)) ?? "").replace(/^0+/, "");
  reader.skip(reader.u8());
  const firmware = plainText(reader.bytes(reader.u8())).slice(0, 100);
  const info: DeviceInfo = {
    kind: "info",
    ...(firmware === "" ? {} : { firmware }),
    ...(/^\d{18,20}$/.test(iccid) ? { iccid } : {}),
  };
  return Object.keys(info).length > 1 ? [info] : [];
}

/** A record of a 0210 batch without a place: battery and time. */
export function readShortRecord(body: Buffer, session: Session<Jt808Traits>): TrackerMessage[] {
  const deviceTimeMs = readTime(body.subarray(1), clockOffsetOf(session));
  return [{ kind: "vitals", deviceTimeMs, metrics: { bat: readPercent(body.readUInt8(0)) }, extra: {} }];
}

/** 0702: the card of a driver was put in or taken out. */
export function readDriver(body: Buffer, session: Session<Jt808Traits>): TrackerMessage[] {
  const reader = new ByteReader(body);
  if (reader.remaining < 9) return [];
  const isInserted = reader.u8() === 1;
  const deviceTimeMs = readTime(reader.bytes(6), clockOffsetOf(session));
  if (reader.u8() !== 0) return [];
  reader.skip(reader.u8());
  const cardCode = plainText(reader.bytes(Math.min(20, reader.remaining)));
  const extra = { card_code: cardCode, is_card_inserted: isInserted };
  return [{ kind: "vitals", deviceTimeMs, metrics: {}, extra }];
}

const [picture, audio] = [0, 1];

/** 0801: a recording is a message of the wearer; of pictures only the size is kept, and the place where they were taken. */
export function readMedia(
  body: Buffer,
  session: Session<Jt808Traits>,
): { messages: TrackerMessage[]; mediaId: number } {
  const reader = new ByteReader(body);
  const mediaId = reader.u32();
  const kind = reader.u8();
  reader.skip(3);
  const messages = readLocation(reader.bytes(28), false, session);
  const bytes = Buffer.from(reader.rest());
  const media = {
    media_kind: kind === picture ? "picture" : kind === audio ? "audio" : "video",
    media_bytes: bytes.length,
  };
  const described = messages.map((one) =>
    one.kind === "vitals" ? { ...one, extra: { ...one.extra, ...media } } : one,
  );
  if (kind !== audio || bytes.length === 0) return { messages: described, mediaId };
  const voice = {
    kind: "voice_part" as const,
    deviceTimeMs: null,
    transfer: `media-${mediaId}`,
    total: 1,
    sequence: 1,
    bytes,
  };
  return { messages: [...described, voice], mediaId };
}

/** 2070: samples of acceleration, each with its time; numbers have a sign bit. */
export function readAcceleration(body: Buffer, session: Session<Jt808Traits>): TrackerMessage[] {
  const reader = new ByteReader(body);
  const signed = (value: number): number => (value & 0x8000 ? -(value & 0x7fff) : value);
  const samples: number[][] = [];
  let deviceTimeMs: number | null = null;
  while (reader.remaining >= 12) {
    const time = readTime(reader.bytes(6), clockOffsetOf(session));
    deviceTimeMs ??= time;
    samples.push([signed(reader.u16()), signed(reader.u16()), signed(reader.u16())]);
  }
  return [{ kind: "vitals", deviceTimeMs, metrics: {}, extra: { acceleration: samples } }];
}
