import { expect } from "vitest";
import type { SessionDevice } from "../../src/codecs/protocol-definition.ts";
import type { TrackerMessage } from "../../src/codecs/tracker-message.ts";
import type { Vector } from "./vectors.ts";

/** What captured frames of every protocol are held to. */

export const sessionDevice = (id: string): SessionDevice => ({
  imei: id,
  id,
  utcOffsetMinutes: 0,
  traits: {},
  locale: "en",
  outstandingSerials: new Set(),
});

export const uplinks = (vectors: readonly Vector[]): (readonly [seq: number, vector: Vector])[] =>
  vectors.filter(({ direction }) => direction === "uplink").map((vector) => [vector.seq ?? 0, vector] as const);

const somethingToStore: ReadonlySet<TrackerMessage["kind"]> = new Set([
  "fix",
  "vitals",
  "alarm",
  "info",
  "command_answer",
]);

/** Positions are a fix where the device says it has one; whether it has is the business of the protocol's own tests. */
export function expectMessages(messages: readonly TrackerMessage[], { expect: expected }: Vector): void {
  if (expected.kind === "null") {
    expect(messages.every(({ kind }) => kind === "heartbeat")).toBe(true);
    return;
  }
  expect(messages.some(({ kind }) => somethingToStore.has(kind))).toBe(true);
  for (const message of messages) {
    if (message.kind !== "fix" || message.gps === null) continue;
    expect(Math.abs(message.gps.lat)).toBeLessThanOrEqual(90);
    expect(Math.abs(message.gps.lng)).toBeLessThanOrEqual(180);
  }
  const fix = messages.find((message) => message.kind === "fix");
  if (expected.time !== undefined) expect(fix?.deviceTimeMs).toBe(Date.parse(expected.time));
  if (expected.lat !== undefined) expect(fix?.gps?.lat).toBeCloseTo(expected.lat, 5);
  if (expected.lon !== undefined) expect(fix?.gps?.lng).toBeCloseTo(expected.lon, 5);
}
