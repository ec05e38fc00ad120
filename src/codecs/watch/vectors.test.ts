import { describe, expect, it } from "vitest";
import { feed } from "../../../test/support/codec-harness.ts";
import { readVectors, type Vector, vectorBytes } from "../../../test/support/vectors.ts";
import type { Downlink, Session } from "../protocol-definition.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { escapeBytes, readHeader, unescapeBytes } from "./envelope.ts";
import { nextPiece } from "./framing.ts";
import { watch } from "./protocol.ts";

/** Rows of which we do more, less or something else, by their number. */
const deviations: Readonly<Record<number, { reason: string; ours?: string }>> = {
  15: { reason: "parts of a recording are messages here, not joined by the codec" },
  59: { reason: "the catalog sets all three numbers at once", ours: "SOS,123456789,," },
  64: { reason: "the catalog has no command for raw words" },
  65: { reason: "the language is 0 where no code is known, never empty", ours: "LZ,0,+1" },
  66: { reason: "the language is 0 where no code is known, never empty", ours: "LZ,0,+1.5" },
  67: { reason: "the language is 0 where no code is known, never empty", ours: "LZ,0,-1" },
};

const vectors = readVectors("watch.jsonl");
const vectorsOf = (direction: Vector["direction"]) =>
  vectors.filter((vector) => vector.direction === direction).map((vector) => [vector.seq, vector] as const);

const sessionOf = (id: string): Session => ({
  nowMs: Date.UTC(2026, 2, 1),
  device: {
    imei: id,
    id,
    utcOffsetMinutes: 0,
    traits: { alarm_bit_22: "fall" },
    locale: "en",
    outstandingSerials: new Set(),
  },
  memory: new Map(),
});

/** Rows hold frames without their escapes; of recordings these are put back. */
function onTheWire(bytes: Buffer): Buffer {
  const start = bytes.indexOf("*TK,") + 4;
  if (start < 4) return bytes;
  return Buffer.concat([bytes.subarray(0, start), escapeBytes(bytes.subarray(start, -1)), Buffer.from("]")]);
}

function messagesIn(vector: Vector): TrackerMessage[] {
  const bytes = onTheWire(vectorBytes(vector));
  const session = sessionOf(readHeader(bytes, 0, bytes.length)?.id ?? "");
  const { device } = session;
  if (device === undefined) throw new Error("no device");
  const world = { protocol: watch, nowMs: session.nowMs, device };
  const fed = feed(world, { ...session, device: undefined }, [bytes]);
  expect(fed.problems).toEqual([]);
  expect(fed.rest).toHaveLength(0);
  const [login, ...messages] = fed.frames.flatMap((frame) => frame.messages);
  expect(login).toEqual({ kind: "login", id: device.id });
  return messages;
}

const alarmNames: Readonly<Record<string, string>> = {
  sos: "sos",
  removing: "not_worn",
  fallDown: "fall",
  lowBattery: "low_battery",
  general: "custom",
};
const metricNames: Readonly<Record<string, string>> = {
  bloodOxygen: "spo2",
  temp1: "temp",
  heartRate: "hr",
  batteryLevel: "bat",
  steps: "steps",
};

function expectAttribute(messages: TrackerMessage[], name: string, value: unknown): void {
  if (name === "alarm") {
    expect(messages).toContainEqual(expect.objectContaining({ kind: "alarm", type: alarmNames[String(value)] }));
  } else if (name === "audio") {
    expect(messages).toMatchObject([{ kind: "voice_part", total: 1 }]);
  } else {
    const metrics = { [metricNames[name] ?? name]: value };
    expect(messages).toContainEqual(
      expect.objectContaining({ kind: "vitals", metrics: expect.objectContaining(metrics) }),
    );
  }
}

describe.skipIf(vectors.length === 0)("captured frames of watches", () => {
  it.each(vectorsOf("uplink"))("uplink %i", (seq, vector) => {
    const messages = messagesIn(vector);
    const { kind, time, valid, lat, lon, attributes } = vector.expect;
    if (kind === "null") {
      const isVoice = deviations[seq ?? 0] !== undefined;
      expect(messages.every((message) => message.kind === (isVoice ? "voice_part" : "heartbeat"))).toBe(true);
      return;
    }
    expect(messages.some((message) => ["fix", "vitals", "alarm", "voice_part"].includes(message.kind))).toBe(true);
    for (const [name, value] of Object.entries(attributes ?? {})) expectAttribute(messages, name, value);
    if (kind !== "position") return;
    const fix = messages.find((message) => message.kind === "fix");
    expect(fix?.deviceTimeMs).not.toBeNull();
    if (time !== undefined) expect(fix?.deviceTimeMs).toBe(Date.parse(time));
    const isValid = valid ?? vector.frame.includes(",A,");
    expect(fix?.gps !== null).toBe(isValid);
    if (isValid && lat !== undefined) expect(fix?.gps?.lat).toBeCloseTo(lat, 5);
    if (isValid && lon !== undefined) expect(fix?.gps?.lng).toBeCloseTo(lon, 5);
  });

  it.each(vectorsOf("framing"))("framing %i", (_, vector) => {
    const bytes = vectorBytes(vector);
    const piece = nextPiece(bytes, 0, 0, undefined, 0);
    if (piece.kind !== "frame") throw new Error("no frame");
    expect(unescapeBytes(bytes.subarray(piece.start, piece.end))).toEqual(vectorBytes(vector.expect));
  });

  // Only what the brackets enclose is escaped, and of that only what follows the word.
  if (vectorsOf("framing_encode").length > 0)
    it.each(vectorsOf("framing_encode"))("framing of what we send %i", (_, vector) => {
      expect(onTheWire(vectorBytes(vector))).toEqual(vectorBytes(vector.expect));
    });

  const offsets: Readonly<Record<string, number>> = {
    "Europe/Amsterdam": 60,
    "Atlantic/Azores": -60,
    "GMT+01:30": 90,
    "GMT+05:45": 345,
  };

  function downlinkOf({ command }: Vector): Downlink | undefined {
    const attributes = command?.attributes ?? {};
    const make = (type: string, params: Record<string, unknown>): Downlink => ({
      kind: "command",
      type,
      params,
      serial: "1",
    });
    switch (command?.type) {
      case "sosNumber":
        return make("set_sos_numbers", { numbers: [attributes.phone] });
      case "setTimezone":
        return make("set_timezone", { utc_offset_minutes: offsets[String(attributes.timezone)] });
      case "message":
        return { kind: "text", text: String(attributes.message), senderName: "", serial: "1" };
      case "voiceMessage": {
        const bytes = Buffer.from(String(attributes.data), "hex");
        return { kind: "voice_part", senderName: "", serial: "1", total: 1, sequence: 1, bytes };
      }
      default:
        return undefined;
    }
  }

  it.each(vectorsOf("command"))("command %i", (seq, vector) => {
    const deviation = deviations[seq ?? 0];
    const downlink = downlinkOf(vector);
    if (downlink === undefined) return expect(deviation).toBeDefined();
    const session = sessionOf(vector.uniqueId ?? "");
    session.memory.set("maker", "CS");
    const frame = watch.encode(downlink, session)[0] as Buffer;
    const expected = vectorBytes(vector.expect);
    if (deviation !== undefined) return expect(frame.toString()).toContain(`*${deviation.ours}]`);
    // The case of the length is free.
    const { size } = readHeader(expected, 0, expected.length) ?? { size: 0 };
    expect(frame.subarray(size)).toEqual(expected.subarray(size));
    expect(frame.toString("latin1", 0, size).toLowerCase()).toBe(expected.toString("latin1", 0, size).toLowerCase());
  });
});
