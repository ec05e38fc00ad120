import { describe, expect, it } from "vitest";
import { durationMs, layOut, leadName } from "./ecg-layout.ts";

const part = (sequence: number, sampleCount: number, lead = 1) => ({ lead, sequence, sampleCount });

describe("the layout of a recording", () => {
  it("puts parts in the order of their numbers, however they came", () => {
    const { leads, sampleCount, missing, isComplete } = layOut([part(3, 40), part(1, 100), part(2, 100)], 3);
    expect(leads).toEqual([
      {
        lead: 1,
        name: "I",
        stretches: [
          { sequence: 1, count: 100 },
          { sequence: 2, count: 100 },
          { sequence: 3, count: 40 },
        ],
      },
    ]);
    expect([sampleCount, missing, isComplete]).toEqual([240, [], true]);
  });

  it.each([
    ["in the middle", [part(1, 100), part(3, 40), part(4, 100)], 4, 340, [{ from: 100, count: 100 }]],
    ["at the start", [part(2, 50), part(3, 50)], 3, 150, [{ from: 0, count: 50 }]],
    ["at the end", [part(1, 50)], 3, 150, [{ from: 50, count: 100 }]],
    [
      "twice",
      [part(2, 50), part(4, 50)],
      5,
      250,
      [
        { from: 0, count: 50 },
        { from: 100, count: 50 },
        { from: 200, count: 50 },
      ],
    ],
  ])("names a gap %s", (_, parts, total, sampleCount, missing) => {
    const layout = layOut(parts, total);
    expect(layout).toMatchObject({ sampleCount, missing, isComplete: false });
    expect(layout.leads[0]?.stretches.filter(({ sequence }) => sequence === null).length).toBeGreaterThan(0);
  });

  it("takes leads that are numbered together, and finds the gap of one of them", () => {
    const parts = [part(1, 10), part(2, 10), part(3, 10, 2), part(5, 10, 2)];
    const { leads, missing, sampleCount, isComplete } = layOut(parts, 5);
    expect(leads.map(({ name, stretches }) => [name, stretches.map(({ sequence }) => sequence)])).toEqual([
      ["I", [1, 2, null]],
      ["II", [3, null, 5]],
    ]);
    expect([sampleCount, missing, isComplete]).toEqual([30, [{ from: 10, count: 20 }], false]);
  });

  it("takes leads that are numbered each on their own", () => {
    const parts = [part(1, 10), part(2, 10), part(1, 10, 3), part(2, 10, 3)];
    const { leads, missing, sampleCount, isComplete } = layOut(parts, 2);
    expect(leads.map(({ name }) => name)).toEqual(["I", "L3"]);
    expect([sampleCount, missing, isComplete]).toEqual([20, [], true]);
  });

  it("has nothing of nothing, and of a part without samples", () => {
    expect(layOut([], 2)).toEqual({ leads: [], sampleCount: 0, missing: [], isComplete: false });
    expect(layOut([part(1, 0)], 1)).toMatchObject({ sampleCount: 0, missing: [], isComplete: true });
  });

  it("names leads and tells durations", () => {
    expect([leadName(1), leadName(2), leadName(0), leadName(12)]).toEqual(["I", "II", "L0", "L12"]);
    expect([durationMs(7500, 250), durationMs(100, 300)]).toEqual([30_000, 333]);
  });
});
