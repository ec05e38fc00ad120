import { describe, expect, it } from "vitest";
import { capacityOf, defaultPlan, type Figures, packetsPerBatch } from "./model.ts";

const figures: Figures = {
  conditions: "",
  packet: { programUs: 100, databaseUs: 50, walBytes: 1000, diskBytes: 500 },
  batch: { programUs: 500, databaseUs: 500, waitUs: 1000 },
  row: { programUs: 20, databaseUs: 20, walBytes: 900, diskBytes: 700 },
  delivery: { programUs: 200, databaseUs: 100 },
  read: { programUs: 200, databaseUs: 100 },
  connectionBytes: 5000,
  deviceBytes: 2000,
  processBytes: 1.5e8,
  coordinatorShare: 0.5,
  laneRowsPerSecond: 25_000,
};
const of = (changes: Partial<typeof defaultPlan>) => capacityOf({ ...defaultPlan, ...changes }, figures);

describe("the model of capacity", () => {
  it("lets batches grow with the rate, from one packet to the most that a transaction takes", () => {
    expect(packetsPerBatch(1, figures)).toBe(1);
    expect(packetsPerBatch(2000, figures)).toBeCloseTo((2000 * 0.002) / 0.7);
    expect(packetsPerBatch(1e6, figures)).toBe(2000);
  });

  it("needs one process of each role for few devices", () => {
    const { gateways, apis, workers, databaseCores, beyond } = of({ devices: 1000 });
    expect([gateways, apis, workers, databaseCores, beyond]).toEqual([1, 1, 1, 1, []]);
  });

  it("counts disks by what is kept and money by cores and disks", () => {
    const { diskGb, coreHours, money } = of({ devices: 60_000, days: 10 });
    expect(diskGb).toBeCloseTo((1000 * 86_400 * 10 * 1200 + 60_000 * 2000) / 1e9);
    expect(money).toBeCloseTo(coreHours * 0.04 + diskGb / 10);
  });

  it("never needs less for more devices, or for more of anything", () => {
    const costs = [1e3, 1e4, 1e5, 1e6, 1e7].map((devices) => of({ devices }).money);
    expect(costs).toEqual(costs.toSorted((a, b) => a - b));
    for (const more of [{ interval: 10 }, { partners: 3 }, { reads: 100 }, { days: 100 }, { peak: 4 }]) {
      expect(of({ devices: 1e6, ...more }).money).toBeGreaterThan(of({ devices: 1e6 }).money);
    }
  });

  it("says what one PostgreSQL does not hold", () => {
    expect(of({ devices: 1e5 }).beyond).toEqual([]);
    expect(of({ devices: 1e6, days: 365 }).beyond).toContain("Citus");
    expect(of({ devices: 1e6, reads: 1000 }).beyond).toContain("a read replica");
    expect(of({ devices: 1e7 }).beyond.join()).toContain("the log is locked");
  });
});
