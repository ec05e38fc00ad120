import { describe, expect, it } from "vitest";
import { collectionsOf, costsOf, fitLine } from "./fit.ts";
import type { MeasuredRun, MeasuredRuns } from "./measured-run.ts";

const idle = { programUs: 20_000, databaseUs: 10_000 };
const rest = { conditions: "", cores: 2, roundTripUs: 50, idle, bytes: { history: 0, keys: 0, log: 0 } };

interface Law {
  program: [packet: number, batch: number];
  database: [packet: number, batch: number];
}

function run(perSecond: number, packetsPerBatch: number, { program, database }: Law, partners: 0 | 1 = 0): MeasuredRun {
  const none = { perSecond: 0, ms: 0 };
  return {
    devices: 1000,
    rate: perSecond,
    partners,
    perSecond,
    packetsPerBatch,
    p50Ms: 1,
    p99Ms: 1,
    batchMs: 1,
    programUs: program[0] + program[1] / packetsPerBatch + idle.programUs / perSecond,
    databaseUs: database[0] + database[1] / packetsPerBatch + idle.databaseUs / perSecond,
    deviceUs: 30,
    flushMs: 1,
    walBytes: 1000,
    memoryBytes: 1e8,
    cpuShare: 0.5,
    minorGc: none,
    majorGc: none,
  };
}

const law: Law = { program: [60, 900], database: [40, 600] };
const runsOf = (laws: Law, partners: 0 | 1 = 0): MeasuredRun[] => [
  run(100, 1, laws, partners),
  run(1000, 5, laws, partners),
  run(8000, 400, laws, partners),
];
const sumOf = ({ received, stored, answered }: ReturnType<typeof costsOf>): number => received + stored + answered;

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

  it("meet cheap packets of full batches as well as dear ones that come alone", () => {
    const points = [
      { batchesPerPacket: 1, cpuUs: 1400 },
      { batchesPerPacket: 1, cpuUs: 600 },
      { batchesPerPacket: 0.001, cpuUs: 50 },
    ];
    const { packet, batch } = fitLine(points);
    expect(packet + 0.001 * batch).toBeCloseTo(50, 1);
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
    const runs = runsOf(law);
    const costs = costsOf(runs[1] as MeasuredRun, { ...rest, runs });
    expect(sumOf(costs)).toBeCloseTo(60);
    expect(costs.programBatch).toBeCloseTo(900);
    expect(costs.updated + costs.copied).toBeCloseTo(40);
    expect(costs.databaseBatch).toBeCloseTo(600);
    expect([costs.told, costs.logged]).toEqual([0, 0]);
  });

  it("are those of the machine as fast as it was in the run", () => {
    const slow = { program: [120, 1800], database: [40, 600] } as Law;
    const runs = [...runsOf(law), ...runsOf(law)];
    const last = run(8000, 400, slow);
    const costs = costsOf(last, { ...rest, runs: [...runs, last] });
    expect(sumOf(costs) + costs.programBatch / 400).toBeCloseTo(120 + 1800 / 400);
    expect(costs.updated + costs.copied + costs.databaseBatch / 400).toBeCloseTo(40 + 600 / 400);
  });

  it("take what packets of a partner cost more for the rows of the log", () => {
    const told: Law = { program: [75, 900], database: [50, 600] };
    const measured: MeasuredRuns = { ...rest, runs: [...runsOf(law), ...runsOf(told, 1)] };
    const costs = costsOf(measured.runs.at(-1) as MeasuredRun, measured);
    expect(sumOf(costs)).toBeCloseTo(60);
    expect(costs.told).toBeCloseTo(15);
    expect(costs.logged).toBeCloseTo(10);
  });

  it("have pauses for garbage apart from packets, and as often", () => {
    const paused = runsOf(law).map((one) => ({
      ...one,
      programUs: one.programUs + (20 * 4000) / one.perSecond,
      minorGc: { perSecond: 20, ms: 4 },
    }));
    expect(sumOf(costsOf(paused[1] as MeasuredRun, { ...rest, runs: paused }))).toBeCloseTo(60);
    expect(collectionsOf(paused[1] as MeasuredRun)).toEqual([{ packets: 50, pauseUs: 4000 }]);
  });
});
