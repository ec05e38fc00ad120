import { describe, expect, it } from "vitest";
import { costsOf, fitLine } from "./fit.ts";
import type { MeasuredRun } from "./measured-run.ts";

describe("costs from measured runs", () => {
  it("part what a packet costs from what a batch costs", () => {
    const points = [1, 0.1, 0.01].map((batchesPerPacket) => ({
      batchesPerPacket,
      cpuUs: 80 + 1000 * batchesPerPacket,
    }));
    const { packet, batch } = fitLine(points);
    expect(packet).toBeCloseTo(80);
    expect(batch).toBeCloseTo(1000);
  });

  it("are never below zero, and those of equal batches all belong to the packet", () => {
    expect(
      fitLine([
        { batchesPerPacket: 1, cpuUs: 50 },
        { batchesPerPacket: 0.5, cpuUs: 60 },
      ]).batch,
    ).toBe(0);
    expect(fitLine([{ batchesPerPacket: 1, cpuUs: 50 }])).toEqual({ packet: 50, batch: 0 });
  });

  it("leave out what the service takes when nothing happens", () => {
    const run = (perSecond: number, packetsPerBatch: number): MeasuredRun => ({
      devices: 1000,
      rate: perSecond,
      perSecond,
      packetsPerBatch,
      p50Ms: 1,
      p99Ms: 1,
      programUs: 60 + 900 / packetsPerBatch + 20_000 / perSecond,
      databaseUs: 40 + 600 / packetsPerBatch + 10_000 / perSecond,
      deviceUs: 30,
      flushMs: 1,
    });
    const idle = { programUs: 20_000, databaseUs: 10_000 };
    const costs = costsOf({ cores: 2, roundTripUs: 50, idle, runs: [run(100, 1), run(1000, 5), run(8000, 400)] });
    expect(costs.received + costs.stored + costs.answered).toBeCloseTo(60);
    expect(costs.programBatch).toBeCloseTo(900);
    expect(costs.updated + costs.copied).toBeCloseTo(40);
    expect(costs.databaseBatch).toBeCloseTo(600);
  });
});
