import { describe, expect, it } from "vitest";
import { feed } from "../../../test/support/codec-harness.ts";
import { expectMessages, sessionDevice, uplinks } from "../../../test/support/vector-checks.ts";
import { readVectors, vectorBytes } from "../../../test/support/vectors.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { nextPiece } from "./framing.ts";
import { gl200 } from "./protocol.ts";

const vectors = readVectors("gl200.jsonl");

/** Rows of which we say less than they expect. All of them are read. */
const deviations: Readonly<Record<number, string>> = {
  8: "an answer in binary form is an answer here, and nothing there",
  81: "the state of a vehicle's bus, without a place",
  82: "the state of a vehicle's bus, without a place",
  87: "no fix and no cell: nothing but a switch",
  88: "no fix and no cell: nothing but a switch",
  144: "no fix and no cell: the state of an engine",
};

/** Rows have mostly lost their end. */
function onTheWire(bytes: Buffer): Buffer {
  const isText = bytes[4] === 0x3a || bytes[5] === 0x3a;
  return isText && bytes.at(-1) !== 0x24 ? Buffer.concat([bytes, Buffer.from("$")]) : bytes;
}

function read(bytes: Buffer): TrackerMessage[] {
  const first = gl200.readFrame(bytes, { nowMs: 0, device: undefined, memory: new Map() }).messages[0];
  const id = first?.kind === "login" ? first.id : "";
  const world = { protocol: gl200, nowMs: Date.UTC(2026, 2, 1), device: sessionDevice(id) };
  const fed = feed(world, { nowMs: world.nowMs, device: undefined, memory: new Map() }, [bytes]);
  expect(fed.problems).toEqual([]);
  expect(fed.rest).toHaveLength(0);
  return fed.frames.flatMap(({ messages }) => messages).slice(1);
}

const alarms: Readonly<Record<string, object>> = {
  hardBraking: { type: "custom", code: "GTHBM" },
  powerOff: { type: "power_off" },
  powerOn: { type: "power_on" },
};
const extras: Readonly<Record<string, (value: unknown) => object>> = {
  accessoryVoltage: (value) => ({ accessory_v: value }),
  adc3: (value) => ({ analog_3: value }),
  data: (value) => ({ data: value }),
  fuel: (value) => ({ fuel: value }),
  ignition: (value) => ({ ignition: value }),
  // The lowest input is that of the ignition.
  in1: (value) => ({ inputs: value === false ? 1 : 3 }),
  power: (value) => ({ external_v: value }),
  temp1: (value) => ({ sensor_1_temperature: value }),
  warningType: (value) => ({ warning_type: value }),
};

describe.skipIf(vectors.length === 0)("captured reports of Queclink trackers", () => {
  it.each(uplinks(vectors))("uplink %i", (seq, vector) => {
    const messages = read(onTheWire(vectorBytes(vector)));
    if (deviations[seq] === undefined) expectMessages(messages, vector);
    for (const [name, value] of Object.entries(vector.expect.attributes ?? {})) {
      const vitals = messages.find((message) => message.kind === "vitals");
      if (name === "alarm") expect(messages.at(-1)).toMatchObject(alarms[String(value)] ?? {});
      else if (name === "batteryLevel") expect(vitals?.metrics.bat ?? null).toBe(value);
      else expect(vitals?.extra).toMatchObject(extras[name]?.(value) ?? { [name]: value });
    }
  });

  it.each(
    vectors.filter(({ direction }) => direction === "framing").map((vector) => [vector.seq ?? 0, vector] as const),
  )("framing %i", (_, vector) => {
    const bytes = vectorBytes(vector);
    const piece = nextPiece(bytes, 0, 0);
    if (piece.kind !== "frame") throw new Error("no frame");
    expect(bytes.subarray(piece.start, piece.end)).toEqual(vectorBytes(vector.expect));
    expect(read(bytes).length).toBeGreaterThan(0);
  });
});
