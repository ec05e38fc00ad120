import { expect, it } from "vitest";
import { DrainRate } from "./drain-rate.ts";
import { LateRate, type Moment } from "./late-rate.ts";

const min = 1000;
const calm: Moment = {
  durationMs: 100,
  busy: 0.3,
  packets: { count: 10, maxMs: 4, isWaiting: false },
  begun: 0,
  minPerSecond: min,
};
const quiet: Moment = { ...calm, packets: { count: 0, maxMs: 0, isWaiting: false } };

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
    const packets = { count: 8, maxMs: waitMs, isWaiting: true };
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

/** The same numbers between 0 and 1 in each run. */
const noise = (step: number): number => ((step * 2_654_435_761) % 2 ** 32) / 2 ** 32;
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

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
  ["a packet had to wait", { packets: { count: 10, maxMs: 100, isWaiting: true } }],
  ["the process had no time left", { busy: 0.95 }],
])("late rows begin at half the rate when %s, and never below the least", (_, trouble) => {
  const rate = new LateRate();
  rate.adjust(calm);
  for (let perSecond = min; perSecond < 4000; ) {
    perSecond = rate.adjust({ ...calm, begun: Math.ceil(perSecond / 10) });
  }
  expect(rate.adjust({ ...calm, ...trouble, begun: 360 })).toBe(1800);
  expect(rate.adjust({ ...calm, ...trouble, begun: 180 })).toBe(min);
  expect(rate.adjust({ ...calm, ...trouble, busy: 0.95, begun: 100, minPerSecond: 1875 })).toBe(1875);
});

it("late rows are free again two seconds after the last packet", () => {
  const rate = new LateRate();
  rate.adjust(calm);
  const rates = Array.from({ length: 20 }, () => rate.adjust(quiet));
  expect(rates.slice(0, 19)).toEqual(Array(19).fill(min));
  expect(rates[19]).toBe(Number.POSITIVE_INFINITY);
});

it("late rows neither are free nor begin faster while packets wait and none is answered", () => {
  const rate = new LateRate();
  rate.adjust(calm);
  const hanging = { ...quiet, packets: { count: 0, maxMs: 0, isWaiting: true }, begun: 100 };
  for (let n = 0; n < 50; n++) expect(rate.adjust(hanging)).toBe(min);
});

it("a backlog ends although more rows come than the least rate, and every flush of a slow disk takes 12 ms", () => {
  const { queues } = simulate({ backlog: 4500, intake: 1500, seconds: 15 }, (begunPerSecond, step) => ({
    busy: 0.1 + begunPerSecond / 10_000,
    waitMs: 12 + 24 * noise(step),
  }));
  expect(queues.indexOf(0)).toBeGreaterThan(0);
});

it("a backlog ends although more rows come than the least rate, and devices have to wait all the time", () => {
  const { rates, queues } = simulate({ backlog: 4500, intake: 1500, seconds: 40 }, () => ({ busy: 0.97, waitMs: 80 }));
  expect(Math.max(...rates)).toBeLessThan(1876);
  expect(queues.indexOf(0)).toBeGreaterThan(100);
});

it.each([
  ["every flush takes 12 ms", (step: number) => 12 + 24 * noise(step)],
  ["every flush takes 50 ms, and some much longer", (step: number) => (step % 20 ? 50 : 150) + 50 * noise(step)],
])("a backlog has nearly all the time that is left when %s", (_, waitMs) => {
  const { rates } = simulate({ backlog: 1e6, seconds: 60 }, (begunPerSecond, step) => ({
    busy: Math.min(1, 0.1 + begunPerSecond / 10_000),
    waitMs: waitMs(step),
  }));
  // At 6,000 a second the process would be busy for 70 % of its time.
  expect(mean(rates.slice(100))).toBeGreaterThan(3500);
});

it("a disk that becomes slow holds a backlog up for moments only", () => {
  const { rates } = simulate({ backlog: 1e6, seconds: 20 }, (begunPerSecond, step) => ({
    busy: 0.1 + begunPerSecond / 10_000,
    waitMs: (step < 100 ? 4 : 80) * (1 + noise(step) / 2),
  }));
  const slow = rates.slice(100);
  expect(Math.min(...slow)).toBeLessThan(2000);
  expect(mean(slow.slice(30))).toBeGreaterThan(3000);
});

it.each([
  [3, 10],
  [30, 45],
])("late rows give way when devices that wait %d ms without them wait longer than %d ms", (baselineMs, boundMs) => {
  const waits: number[] = [];
  const { rates } = simulate({ backlog: 1e6, seconds: 60 }, (begunPerSecond, step) => {
    // Each 1,000 rows a second more double what packets wait.
    const waitMs = baselineMs * 2 ** (Math.max(0, begunPerSecond - min) / 1000) * (1 + noise(step) / 4);
    waits.push(waitMs);
    return { busy: 0.5, waitMs };
  });
  expect(mean(rates)).toBeGreaterThan(min);
  expect(mean(waits)).toBeLessThan(1.2 * boundMs);
});

it("one long wait neither slows late rows down nor lets them begin faster", () => {
  const rate = new LateRate();
  for (const begun of [0, 100, 110]) rate.adjust({ ...calm, begun });
  const perSecond = rate.adjust({ ...calm, begun: 121, packets: { count: 1, maxMs: 40, isWaiting: true } });
  expect(perSecond).toBeCloseTo(1.21 * min);
  expect(rate.adjust({ ...calm, begun: 121 })).toBeCloseTo(1.331 * min);
});
