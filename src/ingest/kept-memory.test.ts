import { describe, expect, it } from "vitest";
import { uuidBytes } from "../lib/ids.ts";
import { noFences } from "../rules/device-fences.ts";
import type { DeviceHold, DeviceMemory, RecentFix } from "./device-memory.ts";
import { keepMemory } from "./kept-memory.ts";
import { noMemory } from "./rules/rule-memory.ts";

const fix = (number: number): RecentFix => ({
  id: uuidBytes(`00000000-0000-7000-8000-${String(number).padStart(12, "0")}`),
  tsMs: number,
  lat: number,
  lng: -number,
  accuracyM: null,
});

const fresh: DeviceMemory = {
  fixes: [],
  alarms: [],
  lastLocation: null,
  status: {},
  lastSeenMs: null,
  newestReportMs: null,
  ruleVersion: 0,
  rules: noMemory,
};

const holdOf = (memory: DeviceMemory): DeviceHold => ({ memory }) as DeviceHold;

/** As an evaluation makes it: a copy with parts of the one before. */
function next({ memory }: DeviceHold, number: number): DeviceMemory {
  const last = memory.fixes.at(-1);
  const reading = { value: number, ts: `at ${number}` };
  return {
    ...memory,
    fixes: last ? [last, fix(number)] : [fix(number)],
    lastLocation: { lat: number, lng: -number, accuracy_m: null, source: "gps", ts: `at ${number}` },
    status: { ...memory.status, bat: reading },
    lastSeenMs: number,
    newestReportMs: number,
    rules: { ...memory.rules, fences: { ...memory.rules.fences, last: { lat: number, lng: -number, tsMs: number } } },
  };
}

describe("what a device remembers", () => {
  it("is what each commit says", () => {
    const hold = holdOf(fresh);
    for (const number of [1, 2, 3, 4]) {
      const memory = next(hold, number);
      const expected = structuredClone(memory);
      keepMemory(hold, memory);
      expect(structuredClone(hold.memory)).toEqual(expected);
    }
    expect(hold.memory.fixes).toEqual([fix(3), fix(4)]);
  });

  it("stays in the same objects", () => {
    const hold = holdOf(fresh);
    keepMemory(hold, next(hold, 1));
    keepMemory(hold, next(hold, 2));
    const parts = ({ memory }: DeviceHold): unknown[] => [
      memory,
      ...memory.fixes,
      memory.lastLocation,
      memory.status.bat,
      memory.rules,
      memory.rules.fences.last,
    ];
    const before = parts(hold);
    keepMemory(hold, next(hold, 3));
    for (const [index, part] of parts(hold).entries()) expect(part).toBe(before[index]);
  });

  it("keeps the fix before a jump", () => {
    const hold = holdOf(fresh);
    for (const number of [1, 2]) keepMemory(hold, next(hold, number));
    const [before] = hold.memory.fixes as [RecentFix];
    keepMemory(hold, { ...next(hold, 3), fixes: [before, fix(3)] });
    expect(hold.memory.fixes).toEqual([fix(1), fix(3)]);
  });

  it("is not changed by an attempt that does not commit", () => {
    const hold = holdOf(fresh);
    keepMemory(hold, next(hold, 1));
    const before = structuredClone(hold.memory);
    next(hold, 2);
    expect(structuredClone(hold.memory)).toEqual(before);
  });

  it("forgets what was read anew and is no longer said", () => {
    const hold = holdOf(fresh);
    keepMemory(hold, { ...next(hold, 1), status: { bat: { value: 1, ts: null }, hr: { value: 60, ts: null } } });
    hold.memory = { ...hold.memory, status: { hr: { value: 61, ts: "read" } } };
    keepMemory(hold, { ...hold.memory, fixes: [fix(9)], lastLocation: null });
    expect(hold.memory).toMatchObject({ fixes: [fix(9)], lastLocation: null });
    expect(hold.memory.status).toEqual({ hr: { value: 61, ts: "read" } });
  });

  it("never writes into what devices share", () => {
    const hold = holdOf(fresh);
    for (const number of [1, 2, 3]) keepMemory(hold, next(hold, number));
    expect(noMemory).toEqual({ fences: noFences, thresholds: {}, thresholdsAsOf: null, isBatteryLow: false });
    expect(noFences).toEqual({ last: null, evaluatedFixes: [], states: {} });
    expect(fresh).toEqual({
      fixes: [],
      alarms: [],
      lastLocation: null,
      status: {},
      lastSeenMs: null,
      newestReportMs: null,
      ruleVersion: 0,
      rules: noMemory,
    });
  });
});
