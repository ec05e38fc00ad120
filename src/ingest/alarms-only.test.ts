import { expect, test } from "vitest";
import type { TrackerMessage } from "../codecs/tracker-message.ts";
import { alarmsOnly } from "./alarms-only.ts";
import type { Packet } from "./packet.ts";

const packetOf = (...messages: TrackerMessage[]): Packet =>
  ({ frame: { messages, replies: [], raw: Buffer.alloc(0) } }) as unknown as Packet;
const vitals = (deviceTimeMs: number | null): TrackerMessage => ({
  kind: "vitals",
  deviceTimeMs,
  metrics: {},
  extra: {},
});
const sos: TrackerMessage = { kind: "alarm", type: "sos", code: "", deviceTimeMs: 1 };
const part: TrackerMessage = {
  kind: "voice_part",
  deviceTimeMs: null,
  transfer: "a",
  total: 1,
  sequence: 1,
  bytes: Buffer.alloc(1),
};

test("a full disk takes an alarm with all that its packet says, and what writes next to nothing", () => {
  for (const packet of [
    packetOf(vitals(1), sos),
    packetOf({ kind: "login", id: "1" }),
    packetOf({ kind: "heartbeat" }),
  ]) {
    expect(alarmsOnly(packet)).toBe(packet);
  }
});

test("a full disk leaves to the device what it can send again", () => {
  expect(alarmsOnly(packetOf(vitals(1)))).toBeUndefined();
  expect(alarmsOnly(packetOf(part))).toBeUndefined();
});

test("a full disk takes the sign of life of a report that no device keeps", () => {
  expect(alarmsOnly(packetOf(vitals(null)))?.frame.messages).toEqual([{ kind: "heartbeat" }]);
});
