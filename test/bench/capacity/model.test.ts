import { describe, expect, it } from "vitest";
import type { Figures } from "./figures.ts";
import { capacityOf, defaultPlan, firstTouchBytes, packetsPerBatch } from "./model.ts";

const figures: Figures = {
  conditions: "",
  packet: { programUs: 100, databaseUs: 50, walBytes: 1000, historyBytes: 400, keyBytes: 100 },
  batch: { programUs: 500, databaseUs: 500 },
  row: { programUs: 20, databaseUs: 20, walBytes: 900, diskBytes: 700 },
  rowBatch: { programUs: 100, databaseUs: 100 },
  delivery: { programUs: 200, databaseUs: 100, walBytes: 300, diskBytes: 300 },
  deliveryFromBacklog: { programUs: 100, databaseUs: 20 },
  call: { programUs: 200, databaseUs: 100 },
  calls: {},
  connectionBytes: 5000,
  deviceBytes: 2000,
  processBytes: 1.5e8,
  databaseConnectionBytes: 3e6,
  firstTouchWalBytes: [16_000, 4000, 2000],
  coordinatorShare: 0.5,
  citus: { packet: 2, call: 4 },
  laneRowsPerSecond: 25_000,
};
const of = (changes: Partial<typeof defaultPlan>) => capacityOf({ ...defaultPlan, ...changes }, figures);

describe("the model of capacity", () => {
  it("lets batches grow with the rate, from one packet to the most that a transaction takes", () => {
    expect(packetsPerBatch(1, 0, figures)).toBe(1);
    expect(packetsPerBatch(4000, 0, figures)).toBeCloseTo((4000 * 0.001) / 0.4);
    expect(packetsPerBatch(1e6, 0, figures)).toBe(1000);
    expect(packetsPerBatch(4000, 1, figures)).toBeGreaterThan(packetsPerBatch(4000, 0, figures));
  });

  it("needs one process of each role for few devices", () => {
    const { gateways, apis, workers, databaseCores, beyond } = of({ devices: 1000 });
    expect([gateways, apis, workers, databaseCores, beyond]).toEqual([1, 1, 1, 1, []]);
  });

  it("gives workers what deliveries take, and API processes what calls take", () => {
    const deliveries = (1e6 / 60) * 2;
    expect(of({ devices: 1e6 }).workers).toBe(Math.ceil((deliveries * 0.0002) / 0.6));
    expect(of({ devices: 1e6, reads: 60 }).apis).toBe(Math.ceil((((1e6 * 60) / 3600) * 2 * 0.0002) / 0.6));
  });

  it("counts disks by what is kept, the keys of frames for 42 days, and what the checkpoints need", () => {
    const { diskGb, maxWalGb, coreHours, money } = of({ devices: 60_000, days: 10, logDays: 20 });
    const perDay = 1000 * 86_400;
    const kept = perDay * (10 * 400 + 42 * 100 + 20 * (700 + 300)) + 60_000 * 2000;
    expect(diskGb - maxWalGb).toBeCloseTo(kept / 1e9);
    expect(money).toBeCloseTo(coreHours * 0.04 + diskGb / 10);
  });

  it("counts the pages that a device changes for the first time after a checkpoint", () => {
    expect(firstTouchBytes(0.5, figures)).toBe(8000);
    expect(firstTouchBytes(1, figures)).toBe(16_000);
    expect(firstTouchBytes(2.5, figures)).toBe(21_000);
    expect(firstTouchBytes(15, figures)).toBe(22_000);
    const plain = { ...figures, firstTouchWalBytes: [] };
    const plan = { ...defaultPlan, devices: 60_000, peak: 1, interval: 900 };
    const more = capacityOf(plan, figures).walMbPerSecond - capacityOf(plan, plain).walMbPerSecond;
    expect(more).toBeCloseTo((60_000 / 900) * 0.016);
  });

  it("never needs less for more devices, or for more of anything", () => {
    const costs = [1e3, 1e4, 1e5, 1e6, 1e7].map((devices) => of({ devices }).money);
    expect(costs).toEqual(costs.toSorted((a, b) => a - b));
    for (const more of [
      { interval: 10 },
      { partners: 3 },
      { reads: 100 },
      { days: 100 },
      { logDays: 90 },
      { peak: 4 },
    ]) {
      expect(of({ devices: 1e6, ...more }).money).toBeGreaterThan(of({ devices: 1e6 }).money);
    }
  });

  it("says what one PostgreSQL does not hold", () => {
    expect(of({ devices: 1e5 }).beyond).toEqual([]);
    expect(of({ devices: 1e6, days: 365 }).beyond).toContain("Citus");
    expect(of({ devices: 1e6, reads: 1000 }).beyond).toContain("a read replica");
    expect(of({ devices: 1e7 }).beyond.join()).toContain("the log is locked");
  });

  it("says when a receiver is too slow for what is pushed to it", () => {
    const large = { devices: 1e5, devicesPerOrganization: 1e5 };
    expect(of({ ...large, receiverMs: 50 }).beyond.join()).toContain("replay");
    expect(of({ ...large, receiverMs: 5 }).beyond).toEqual([]);
  });
});
