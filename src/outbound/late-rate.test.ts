import { expect, it } from "vitest";
import { DrainRate } from "./drain-rate.ts";
import { LateRate, type Moment } from "./late-rate.ts";

const min = 1000;
const calm: Moment = {
  durationMs: 100,
  busy: 0.3,
  packets: { count: 10, maxMs: 4 },
  begun: 0,
  minPerSecond: min,
};
const quiet: Moment = { ...calm, packets: { count: 0, maxMs: 0 } };

/** A process that answers devices all the time, in steps of 100 ms, and has rows that were late when the first step began. */
function simulate(
  { backlog, intake = 0, seconds }: { backlog: number; intake?: number; seconds: number },
  machine: (begunPerSecond: number, step: number) => { busy: number; waitMs: number },
): { rates: number[]; queues: number[] } {
  const rate = new LateRate();
  const drain = new DrainRate(5);
  const [rates, queues]: [number[], number[]] = [[], []];
  let [queue, begun] = [backlog, 0];
  for (let step = 0; step < seconds * 10; step++) {
    const { busy, waitMs } = machine(begun * 10, step);
    const packets = { count: 8, maxMs: waitMs };
    if (step % 10 === 0) drain.note({ durationMs: 1000, appended: intake, begunNew: 0, failed: 0 });
    const perSecond = rate.adjust({ durationMs: 100, busy, packets, begun, minPerSecond: drain.perSecond });
    queue += intake / 10;
    begun = Math.min(queue, Math.floor(perSecond / 10));
    queue -= begun;
    rates.push(perSecond);
    queues.push(queue);
  }
  return { rates, queues };
}

it("late rows begin as fast as they can while no device speaks", () => {
  expect(new LateRate().adjust({ ...quiet, busy: 1, begun: 500 })).toBe(Number.POSITIVE_INFINITY);
});

it("late rows begin slowly when devices begin to speak, and faster while these do not wait", () => {
  const rate = new LateRate();
  expect(rate.adjust({ ...calm, begun: 400 })).toBe(min);
  expect(rate.adjust({ ...calm, begun: 100 })).toBeCloseTo(1.1 * min);
  expect(rate.adjust({ ...calm, begun: 110 })).toBeCloseTo(1.21 * min);
});

it("a rate that is not used does not grow", () => {
  const rate = new LateRate();
  rate.adjust(calm);
  expect(rate.adjust({ ...calm, begun: 3 })).toBe(min);
});

it.each([
  ["a packet had to wait", { packets: { count: 10, maxMs: 25 } }],
  ["the process had no time left", { busy: 0.95 }],
])("late rows begin at half the rate when %s, and never below the least", (_, trouble) => {
  const rate = new LateRate();
  rate.adjust(calm);
  for (let perSecond = min; perSecond < 4000; ) {
    perSecond = rate.adjust({ ...calm, begun: Math.ceil(perSecond / 10) });
  }
  expect(rate.adjust({ ...calm, ...trouble, begun: 360 })).toBe(1800);
  expect(rate.adjust({ ...calm, ...trouble, begun: 180 })).toBe(min);
});

it("a backlog ends although more rows come than the least rate, and devices have to wait all the time", () => {
  const { rates, queues } = simulate({ backlog: 4500, intake: 1500, seconds: 40 }, () => ({ busy: 0.97, waitMs: 80 }));
  expect(Math.max(...rates)).toBeLessThan(1876);
  expect(queues.indexOf(0)).toBeGreaterThan(100);
});

it("late rows are free again two seconds after the last packet", () => {
  const rate = new LateRate();
  rate.adjust(calm);
  const rates = Array.from({ length: 20 }, () => rate.adjust(quiet));
  expect(rates.slice(0, 19)).toEqual(Array(19).fill(min));
  expect(rates[19]).toBe(Number.POSITIVE_INFINITY);
});
