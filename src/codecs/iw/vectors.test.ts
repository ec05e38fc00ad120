import { describe, expect, it } from "vitest";
import { decode } from "../../../test/support/codec-harness.ts";
import { iwDevice, NOW_MS } from "../../../test/support/iw-world.ts";
import { readVectors, type Vector, vectorBytes } from "../../../test/support/vectors.ts";
import type { Downlink, ProtocolDefinition, Session } from "../protocol-definition.ts";
import type { DecodedFrame } from "../stream-decoder.ts";
import type { Alarm, Fix, TrackerMessage } from "../tracker-message.ts";
import { iw } from "./protocol.ts";

/** Frames that others captured or published, and what they are said to mean. */
interface IwVector extends Omit<Vector, "expect" | "command"> {
  dialect: string;
  imei?: string;
  serial?: string;
  command?: { type: string; params: Record<string, unknown> };
  expect: Vector["expect"] & {
    imei?: string;
    iccid?: string;
    imsi?: string;
    source?: string;
    speed_kmh?: number;
    course?: number;
    metrics?: Record<string, number>;
    cells?: { mcc: number; mnc: number; lac: number; cid: number }[];
    wifi?: { mac: string; raw_signal: number }[];
    alarm?: string | null;
    alarm_code?: string;
    code?: string;
    serial?: string;
    total?: number;
    seq?: number;
    data_hex?: string;
  };
}

/** Where our rules go further than the expectation that comes with a frame. */
const STRICTER_ALARMS = [
  { dialect: "A", code: "03", type: "not_worn", why: "taken off has an event type of its own" },
  { dialect: "B", code: "05", type: "tamper", why: "tamper has an event type of its own" },
];
const RENAMED_METRICS: Record<string, string> = {
  heartRate: "hr",
  pressureDiastolic: "dbp",
  temperature: "temp",
  batteryLevel: "bat",
};
/** Command vectors in another vocabulary than the API's. */
const DOWNLINKS: Record<string, (vector: IwVector, params: Record<string, unknown>) => Downlink> = {
  set_timezone: ({ serial = "" }, { offset_hours }) => ({
    kind: "command",
    type: "set_timezone",
    params: { utc_offset_minutes: Number(offset_hours) * 60 },
    serial,
  }),
  send_voice: (_, { sender, extra, total, seq, data_hex }) => ({
    kind: "voice_part",
    senderName: String(sender),
    serial: String(extra),
    total: Number(total),
    sequence: Number(seq),
    bytes: Buffer.from(String(data_hex), "hex"),
  }),
};

const codec: ProtocolDefinition = iw;
const vectors = ["iw.jsonl", "iw_public.jsonl"].flatMap(readVectors) as unknown as IwVector[];
const vectorsOf = (direction: string): [string, IwVector][] =>
  vectors
    .filter((vector) => vector.direction === direction)
    .map((vector) => [`${vector.dialect} ${vector.frame}`, vector]);

function sessionFor({ dialect, imei }: IwVector, traits: Record<string, unknown> = {}): Session {
  const device = iwDevice(dialect === "B" || dialect === "C" ? dialect : "A");
  return {
    nowMs: NOW_MS,
    device: { ...device, ...(imei ? { imei, id: imei } : {}), traits: { ...device.traits, ...traits } },
    memory: new Map(),
  };
}

/** Frames without their terminator get it back. */
function decodeVector(vector: IwVector, session: Session): DecodedFrame {
  const bytes = vectorBytes(vector);
  const wire = bytes.at(-1) === 0x23 ? bytes : Buffer.concat([bytes, Buffer.from("#")]);
  const decoded = decode(codec, wire, session);
  expect(decoded).toMatchObject({ problems: [], rest: Buffer.alloc(0), frames: [{ raw: wire }] });
  return decoded.frames[0] as DecodedFrame;
}

function find<Kind extends TrackerMessage["kind"]>(messages: TrackerMessage[], kind: Kind) {
  return messages.find((message) => message.kind === kind) as Extract<TrackerMessage, { kind: Kind }> | undefined;
}

/** What has a value: "no reading" is null with us and absent in the vectors. */
function valuesOf(messages: TrackerMessage[]): Record<string, number> {
  const entries = messages.flatMap((message) => (message.kind === "vitals" ? Object.entries(message.metrics) : []));
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => typeof entry[1] === "number"));
}

const timeOf = (time: string): number => Date.parse(time.endsWith("Z") ? time : `${time}Z`);

function checkFix(fix: Fix | undefined, { expect: wanted }: IwVector): void {
  expect(fix).toBeDefined();
  if (wanted.lat !== undefined) expect(fix?.gps?.lat).toBeCloseTo(wanted.lat, 5);
  if (wanted.lon !== undefined) expect(fix?.gps?.lng).toBeCloseTo(wanted.lon, 5);
  if (wanted.speed_kmh !== undefined) expect(fix?.gps?.speedKmh).toBe(wanted.speed_kmh);
  if (wanted.course !== undefined) expect(fix?.gps?.heading).toBe(wanted.course);
  if (wanted.time !== undefined) expect(fix?.deviceTimeMs).toBe(timeOf(wanted.time));
  if (wanted.valid !== undefined) expect(fix?.gps !== null).toBe(wanted.valid);
  if (wanted.cells)
    expect(fix?.cells).toMatchObject(wanted.cells.map(({ mcc, mnc, lac, cid }) => ({ mcc, mnc, lac, cid })));
  if (wanted.wifi) {
    const points = wanted.wifi.map(({ mac, raw_signal }) => ({ mac, signalDbm: raw_signal - 150 }));
    expect(fix?.accessPoints).toEqual(points);
  }
}

function checkMetrics(messages: TrackerMessage[], metrics: Record<string, number>): void {
  const scaled = { ...metrics };
  // The vectors keep the percentage of the wire.
  if (scaled.gsm_signal !== undefined) scaled.gsm_signal = Math.round((scaled.gsm_signal * 31) / 100);
  expect(valuesOf(messages)).toEqual(scaled);
}

function checkAlarm(alarm: Alarm | undefined, { dialect, expect: wanted }: IwVector): void {
  const stricter = STRICTER_ALARMS.find((each) => each.dialect === dialect && each.code === wanted.alarm_code);
  expect(alarm?.type).toBe(stricter?.type ?? wanted.alarm);
  if (wanted.alarm_code) expect(alarm?.code).toBe(wanted.alarm_code);
  expect(alarm?.deviceTimeMs).toBe(timeOf(wanted.time ?? ""));
}

function checkAttributes(messages: TrackerMessage[], attributes: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "alarm") expect(find(messages, "alarm")?.type).toBe(value);
    else expect(valuesOf(messages)[RENAMED_METRICS[name] ?? name]).toBe(value);
  }
}

const checks: Record<string, (messages: TrackerMessage[], vector: IwVector) => void> = {
  null: (messages) => expect(["login", "command_answer", "message_answer"]).toContain(messages.at(-1)?.kind),
  not_null: (messages) => expect(find(messages, "fix")?.cells.length).toBeGreaterThan(0),
  position: (messages, vector) => {
    checkFix(find(messages, "fix"), vector);
    expect(find(messages, "fix")).toMatchObject({ gps: expect.anything(), deviceTimeMs: expect.any(Number) });
  },
  location: (messages, vector) => {
    const fix = find(messages, "fix");
    checkFix(fix, vector);
    const source = fix?.gps ? "gps" : fix?.accessPoints.length ? "wifi" : "lbs";
    expect(source).toBe(vector.expect.source);
  },
  attributes: (messages, { expect: { attributes = {} } }) => {
    expect(Object.keys(valuesOf(messages)).length).toBeGreaterThan(0);
    checkAttributes(messages, attributes);
  },
  heartbeat: () => undefined,
  metrics: (messages, { expect: { time } }) => {
    if (time) expect(find(messages, "vitals")?.deviceTimeMs).toBe(timeOf(time));
  },
  alarm: (messages, vector) => {
    if (vector.expect.lat !== undefined) checkFix(find(messages, "fix"), vector);
    checkAlarm(find(messages, "alarm"), vector);
  },
  ack: (messages, { expect: { code, serial } }) =>
    expect(find(messages, "command_answer")).toMatchObject({ word: `AP${code}`, serial }),
  voice_chunk: (messages, { expect: { time, total, seq, data_hex } }) =>
    expect(find(messages, "voice_part")).toMatchObject({
      transfer: time,
      total,
      sequence: seq,
      bytes: Buffer.from(data_hex ?? "", "hex"),
    }),
  login: (messages, { expect: { imei, iccid, imsi } }) => {
    expect(messages.at(-1)).toEqual({ kind: "login", id: imei });
    if (iccid) expect(find(messages, "info")).toEqual({ kind: "info", iccid, imsi });
  },
};

describe.skipIf(vectors.length === 0)("published IW frames", () => {
  it.each(vectorsOf("uplink"))("%s", (_, vector) => {
    const session = sessionFor(vector);
    const { messages, replies } = decodeVector(vector, session);
    const wanted = vector.expect;
    checks[wanted.kind]?.(messages, vector);
    expect(Object.keys(checks)).toContain(wanted.kind);
    if (wanted.metrics) checkMetrics(messages, wanted.metrics);
    if (wanted.reply) expect(replies.map(String)).toEqual([wanted.reply]);
    if (wanted.no_reply) expect(replies).toEqual([]);
    // The answer to a login is the clock, which the connection sends when it knows the device.
    if (wanted.reply_pattern)
      expect(String(codec.encode({ kind: "clock" }, session))).toMatch(new RegExp(wanted.reply_pattern));
  });

  it.each(vectorsOf("command"))("%s", (_, vector) => {
    const { type = "", params = {} } = vector.command ?? {};
    const downlink = DOWNLINKS[type]?.(vector, params) ?? {
      kind: "command" as const,
      type,
      params,
      serial: vector.serial ?? "",
    };
    // The published name of BP28 is little-endian, a trait that none of the shipped models has.
    const session = sessionFor(vector, type === "send_voice" ? { name_encoding: "utf-16le" } : {});
    const frames = codec.encode(downlink, session).map((frame) => frame.toString("latin1"));
    expect(frames).toEqual([vectorBytes(vector).toString("latin1")]);
  });
});
