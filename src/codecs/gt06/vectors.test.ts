import { describe, expect, it } from "vitest";
import { feed } from "../../../test/support/codec-harness.ts";
import { gt06World } from "../../../test/support/gt06-corpus.ts";
import { readVectors, type Vector, vectorBytes } from "../../../test/support/vectors.ts";
import type { TrackerMessage, Vitals } from "../tracker-message.ts";
import { nextPiece } from "./framing.ts";

const vectors = readVectors("gt06.jsonl");
const vectorsOf = (direction: Vector["direction"]) =>
  vectors.filter((vector) => vector.direction === direction).map((vector) => [vector.seq ?? 0, vector] as const);

/** Frames that cannot be read, by their number. */
const unreadable: Readonly<Record<number, string>> = {
  80: "the last byte is missing, so the frame is incomplete",
  169: "the login ends inside its serial, and a login without a right checksum is refused",
};

/** Values that are read otherwise, or not at all. */
const otherwise: Readonly<Record<number, string>> = {
  30: "the expected altitude is the checksum; the altitude before it is 687 m",
  32: "a driver's card, which people do not carry",
  44: "the time of a driver at the wheel",
  179: "the supply voltage of one maker's heartbeat, which looks like an alarm of others",
  181: "the supply voltage of one maker's heartbeat, which looks like an alarm of others",
  183: "the hours of an engine, kept as working minutes",
  195: "a driver's card, which people do not carry",
};

/** Frames of which nothing is stored elsewhere, and something here. */
const moreHere: Readonly<Record<number, string>> = {
  61: "a cell with its time is worth a lookup",
  161: "the firmware",
};

/** Models whose frames differ by a trait. */
const traitsOf = (model: string | undefined) => ({ status_layout: model === "R11" ? "voltage" : "battery" });

function fed(vector: Vector) {
  const bytes = vectorBytes(vector);
  const isLogin = bytes[0] === 0x78 && bytes[3] === 0x01;
  const world = { ...gt06World, device: { ...gt06World.device, traits: traitsOf(vector.model) } };
  return feed(world, { nowMs: world.nowMs, device: isLogin ? undefined : world.device, memory: new Map() }, [bytes]);
}

const alarmNames: Readonly<Record<string, string>> = {
  sos: "sos",
  tampering: "tamper",
  removing: "tamper",
  lowBattery: "low_battery",
  general: "custom",
  hardBraking: "custom",
  hardAcceleration: "custom",
};

/** Where a value of the other vocabulary stands in ours. */
const places: Readonly<Record<string, (vitals: Vitals) => unknown>> = {
  batteryLevel: ({ metrics }) => metrics.bat,
  power: ({ extra }) => extra.power_v ?? null,
  battery: ({ extra }) => extra.battery_v,
  temp1: ({ extra }) => extra.ambient_temperature,
  humidity: ({ extra }) => extra.humidity,
  ignition: ({ extra }) => extra.ignition,
  networkTechnology: ({ extra }) => extra.network_technology,
  result: ({ extra }) => extra.serial_data,
  eventFiles: ({ extra }) => extra.event_files,
  driverUniqueId: ({ extra }) => extra.driver_id,
  adc1: ({ extra }) => extra.power_v,
};

function expectAttribute(messages: TrackerMessage[], name: string, value: unknown): void {
  if (name === "alarm") {
    expect(messages).toContainEqual(expect.objectContaining({ kind: "alarm", type: alarmNames[String(value)] }));
  } else if (name === "iccid") expect(messages).toContainEqual(expect.objectContaining({ kind: "info", iccid: value }));
  else {
    const vitals = messages.find((message) => message.kind === "vitals");
    expect(vitals && places[name]?.(vitals)).toEqual(value);
  }
}

describe.skipIf(vectors.length === 0)("captured frames of gt06", () => {
  it.each(vectorsOf("framing"))("framing %i", (_, vector) => {
    const bytes = vectorBytes(vector);
    expect(nextPiece(bytes, 0, 0)).toEqual({ kind: "frame", start: 0, end: vectorBytes(vector.expect).length });
  });

  it.each(vectorsOf("uplink"))("uplink %i", (seq, vector) => {
    const { frames, problems, rest } = fed(vector);
    if (unreadable[seq] !== undefined) return expect([frames.length, rest.length > 0]).toEqual([0, true]);
    expect([problems, rest.length]).toEqual([[], 0]);
    const messages = frames.flatMap((frame) => frame.messages);
    const { kind, time, valid, lat, lon, attributes } = vector.expect;
    if (kind === "null") {
      const isQuiet = messages.every((message) => message.kind === "heartbeat" || message.kind === "login");
      return expect(isQuiet).toBe(moreHere[seq] === undefined);
    }
    if (otherwise[seq] === undefined) {
      for (const [name, value] of Object.entries(attributes ?? {})) expectAttribute(messages, name, value);
    }
    if (kind !== "position") return;
    const fix = messages.find((message) => message.kind === "fix");
    expect(fix?.deviceTimeMs).toEqual(time === undefined ? expect.any(Number) : Date.parse(time));
    if (valid !== undefined) expect(fix?.gps !== null).toBe(valid);
    if (lat !== undefined) expect(Math.abs((fix?.gps?.lat ?? 0) - lat)).toBeLessThan(1.1e-5);
    if (lon !== undefined) expect(Math.abs((fix?.gps?.lng ?? 0) - lon)).toBeLessThan(1.1e-5);
  });
});
