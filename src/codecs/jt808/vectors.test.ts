import { describe, expect, it } from "vitest";
import { feed, type HarnessWorld } from "../../../test/support/codec-harness.ts";
import { readVectors, type Vector, vectorBytes } from "../../../test/support/vectors.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { escapeFrame, nextPiece, unescapeFrame } from "./framing.ts";
import { jt808 } from "./protocol.ts";

/** Rows that cannot be read, by their number. */
const unreadable: Readonly<Record<number, string>> = {
  78: "its checksum is wrong",
  79: "its checksum is wrong",
};

/** Rows of which we say something else, by their number. */
const deviations: Readonly<Record<number, string>> = {
  74: "bit 16 is tampering in the standard; one model means movement by it",
  82: "the catalog has no command for raw frames",
  83: "texts are also shown and spoken, so the flag differs",
  84: "the catalog has no command for transparent texts",
};

interface Row extends Vector {
  checks?: { escaped?: boolean };
}

const vectors = (readVectors("jt808.jsonl") as Row[]).map((vector, row) => [row, vector] as const);
const vectorsOf = (direction: Vector["direction"]) => vectors.filter(([, vector]) => vector.direction === direction);

/** Rows hold frames without their escapes. */
function onTheWire(vector: Row): Buffer {
  const bytes = vectorBytes(vector);
  return bytes[0] === 0x7e && !vector.checks?.escaped ? escapeFrame(bytes.subarray(1, -1), 0x7e) : bytes;
}

const worldOf = (id: string): HarnessWorld => ({
  protocol: jt808,
  nowMs: Date.UTC(2026, 2, 1),
  device: {
    imei: id,
    id,
    utcOffsetMinutes: 0,
    traits: { text_encoding: "gbk", clock_offset_minutes: 480 },
    locale: "en",
    outstandingSerials: new Set(),
  },
});

function read(vector: Row) {
  const bytes = onTheWire(vector);
  const first = feed(worldOf(""), { nowMs: 0, device: undefined, memory: new Map() }, [bytes]);
  const login = first.frames[0]?.messages[0];
  const world = worldOf(login?.kind === "login" ? login.id : "");
  return feed(world, { nowMs: world.nowMs, device: undefined, memory: new Map() }, [bytes]);
}

const alarmTypes: Readonly<Record<string, string>> = {
  sos: "sos",
  lowBattery: "low_battery",
  removing: "tamper",
  tampering: "tamper",
  movement: "tamper",
  vibration: "custom",
  door: "custom",
};

/** Where our messages hold what another server calls so. */
const lookups: Readonly<Record<string, (messages: readonly TrackerMessage[]) => unknown>> = {
  sat: (messages) => metric(messages, "satellites"),
  batteryLevel: (messages) => metric(messages, "bat"),
  steps: (messages) => metric(messages, "steps"),
  power: (messages) => extra(messages).power_v,
  battery: (messages) => extra(messages).battery_v,
  cardCode: (messages) => extra(messages).card_code,
  motion: (messages) => extra(messages).is_moving,
  charge: (messages) => extra(messages).is_charging,
  timezone: (messages) => extra(messages).timezone,
  videoAlarm: (messages) => extra(messages).video_alarm,
  result: (messages) => extra(messages).result,
  fuelUsed: (messages) => extra(messages).fuel_used_l,
  fuel1: (messages) => extra(messages).fuel_sensor,
  fuel2: (messages) => extra(messages).fuel_sensor_2,
  temp1: (messages) => (extra(messages).temperatures_c as number[] | undefined)?.[0],
  lock2Battery: (messages) => (extra(messages).locks as { battery_v: number }[] | undefined)?.[1]?.battery_v,
  dtcs: (messages) => (extra(messages).trouble_codes as string[] | undefined)?.join(" "),
  tilt: (messages) => JSON.stringify(extra(messages).tilt),
  door: (messages) => extra(messages).is_door_open,
  imei: (messages) => extra(messages).imei,
  iccid: (messages) => messages.find((message) => message.kind === "info")?.iccid,
  tag1Mac: (messages) => (extra(messages).tags as { mac: string }[] | undefined)?.[0]?.mac.replaceAll(":", ""),
};

const metric = (messages: readonly TrackerMessage[], key: "satellites" | "bat" | "steps") =>
  messages.find((message) => message.kind === "vitals")?.metrics[key];
const extra = (messages: readonly TrackerMessage[]): Record<string, unknown> =>
  messages.find((message) => message.kind === "vitals")?.extra ?? {};

function expectAttribute(messages: readonly TrackerMessage[], name: string, value: unknown): void {
  if (name !== "alarm") {
    expect([name, lookups[name]?.(messages)]).toEqual([name, value]);
    return;
  }
  const types = messages.flatMap((message) => (message.kind === "alarm" ? [message.type] : []));
  expect(types).toEqual(
    expect.arrayContaining(
      String(value)
        .split(",")
        .map((one) => alarmTypes[one]),
    ),
  );
}

describe.skipIf(vectors.length === 0)("captured frames of terminals", () => {
  it.each(vectorsOf("uplink"))("uplink %i", (row, vector) => {
    const { frames, problems, rest } = read(vector);
    if (unreadable[row] !== undefined) return expect(problems.map(({ reason }) => reason)).toContain("wrong checksum");
    expect(problems).toEqual([]);
    expect(rest).toHaveLength(0);
    expect(frames).toHaveLength(2);
    const messages = frames[1]?.messages ?? [];
    const { kind, attributes } = vector.expect;
    if (kind === "null") {
      return expect(messages.every((one) => ["heartbeat", "authentication"].includes(one.kind))).toBe(true);
    }
    expect(messages.some((one) => ["fix", "vitals"].includes(one.kind))).toBe(true);
    for (const [name, value] of Object.entries(attributes ?? {})) expectAttribute(messages, name, value);
    if (kind !== "position" && kind !== "positions") return;
    const fixes = messages.filter((one) => one.kind === "fix");
    expect(fixes.length).toBeGreaterThan(0);
    // A report without a fix may have no time either; one with a fix has both.
    for (const { gps, deviceTimeMs } of fixes) expect(gps === null || deviceTimeMs !== null).toBe(true);
  });

  it.each(vectorsOf("framing"))("framing %i", (_, vector) => {
    const bytes = vectorBytes(vector);
    const session = { memory: new Map<string, string>() };
    let piece = nextPiece(bytes, 0, 0, session);
    if (piece.kind === "stray") piece = nextPiece(bytes, piece.end, piece.end, session);
    if (piece.kind !== "frame") throw new Error(`a ${piece.kind} piece`);
    const raw = bytes.subarray(piece.start, piece.end);
    const content = raw[0] === 0x7e ? Buffer.concat([raw.subarray(0, 1), unescapeFrame(raw), raw.subarray(-1)]) : raw;
    expect(content).toEqual(vectorBytes(vector.expect));
  });

  it.each(vectorsOf("framing_encode"))("escaping %i", (_, vector) => {
    expect(escapeFrame(vectorBytes(vector).subarray(1, -1), 0x7e)).toEqual(vectorBytes(vector.expect));
  });

  it.each(vectorsOf("command"))("command %i is of another kind than ours", (row) => {
    expect(deviations[row]).toBeDefined();
  });

  it("counts what is read", () => {
    const uplinks = vectorsOf("uplink").length;
    expect(uplinks - Object.keys(unreadable).length).toBe(76);
  });
});
