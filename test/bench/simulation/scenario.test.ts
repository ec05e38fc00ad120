import { describe, expect, it } from "vitest";
import { type DeliveryCosts, SimulatedLane } from "./delivery.ts";
import { Machine } from "./machine.ts";
import { type Scenario, simulate } from "./scenario.ts";

const free = {
  received: 0,
  stored: 0,
  answered: 0,
  programBatch: 0,
  updated: 0,
  copied: 0,
  databaseBatch: 0,
  told: 0,
  logged: 0,
  roundTripUs: 0,
};
const quiet: Scenario = {
  cores: 16,
  gateways: 1,
  devices: 1000,
  organizations: 1,
  rate: 100,
  deviceUs: 0,
  flushUs: 1000,
  costs: { ...free, received: 10, stored: 20, answered: 10 },
};

describe("the simulated queue of packets", () => {
  it("commits a packet that comes alone at once", () => {
    const { packetsPerBatch, p50Ms, perSecond } = simulate(quiet);
    expect(packetsPerBatch).toBe(1);
    expect(p50Ms).toBeCloseTo(1.04, 2);
    expect(perSecond).toBeCloseTo(100, 0);
  });

  it("makes larger batches as packets come faster, and commits two of them at a time", () => {
    const busy = simulate({ ...quiet, rate: 10_000 });
    expect(busy.packetsPerBatch).toBeGreaterThan(5);
    const full = { ...quiet, rate: 0, devices: 10_000, costs: { ...free, stored: 50, copied: 50 } };
    const [one, two] = [simulate({ ...full, inFlight: 1 }), simulate(full)];
    // But for the first and the last ones.
    expect(one.packetsPerBatch).toBeGreaterThan(950);
    // One after the other, the program and the database take 100 us a packet and the flush; beside each other 50 us.
    expect(one.perSecond).toBeCloseTo(1e6 / 100.5, -3);
    expect(two.perSecond / one.perSecond).toBeGreaterThan(1.8);
  });

  it("is bound by the lock of one organization, however many gateways there are, and not by those of many", () => {
    const locked = {
      ...quiet,
      gateways: 4,
      devices: 4000,
      rate: 0,
      isLogging: true,
      costs: { ...free, copied: 100, logged: 100 },
    };
    const [one, many] = [simulate(locked), simulate({ ...locked, organizations: 4000 })];
    expect(one.perSecond).toBeLessThan(10_000);
    expect(one.perSecond).toBeGreaterThan(9000);
    expect(many.perSecond).toBeGreaterThan(3 * one.perSecond);
  });

  it("holds up what comes during a pause for garbage", () => {
    const paused = simulate({ ...quiet, rate: 1000, collections: [{ packets: 50, pauseUs: 20_000 }] });
    const free = simulate({ ...quiet, rate: 1000 });
    expect(paused.p50Ms).toBeLessThan(2 * free.p50Ms);
    expect(paused.p99Ms).toBeGreaterThan(15);
    expect(paused.p99Ms).toBeLessThan(25);
  });

  it("answers the first packets of a batch while it writes to the last ones", () => {
    const slow = { ...quiet, rate: 0, costs: { ...free, answered: 1000 } };
    const { p50Ms, p99Ms } = simulate({ ...slow, seconds: 0.001 });
    expect(p50Ms).toBeLessThan(0.7 * p99Ms);
  });

  it("gives each thread its part of too few cores", () => {
    const full = {
      ...quiet,
      rate: 0,
      devices: 10_000,
      deviceUs: 50,
      costs: { ...free, received: 25, stored: 75, copied: 100 },
    };
    const [one, two] = [simulate({ ...full, cores: 1 }), simulate({ ...full, cores: 2 })];
    expect(one.cpuShare).toBeGreaterThan(0.95);
    expect(two.perSecond / one.perSecond).toBeGreaterThan(1.5);
  });
});

describe("the simulated lane of an integration", () => {
  const costs: DeliveryCosts = { worker: 0, database: 0, receiver: 0, wakeUs: 500, requestUs: 32_000 };
  const deliver = (given: DeliveryCosts, rows: number): SimulatedLane => {
    const machine = new Machine(4);
    const lane = new SimulatedLane(machine, given);
    lane.add(rows);
    machine.advanceTo(10e6);
    return lane;
  };

  it("has 32 requests in progress", () => {
    const lane = deliver(costs, 20_000);
    expect(lane.delivered).toBeCloseTo(10_000, -2);
    expect(lane.waiting).toBe(20_000 - lane.delivered - 32);
  });

  it("tells of a row as soon as it hears of it, and in order", () => {
    const lane = deliver({ ...costs, worker: 100, receiver: 50 }, 100);
    expect(lane.timesUs[0]).toBeCloseTo(500 + 50 + 16_000 + 50, 5);
    expect(lane.timesUs).toEqual(lane.timesUs.toSorted((a, b) => a - b));
    expect(lane.delivered).toBe(100);
  });

  it("is bound by the worker when the receiver is fast", () => {
    const lane = deliver({ ...costs, requestUs: 100, worker: 1000 }, 20_000);
    expect(lane.delivered).toBeCloseTo(10_000, -2);
  });
});
