import { expect, it } from "vitest";
import { LateRate, type Moment, minPerSecond } from "./late-rate.ts";

const calm: Moment = { durationMs: 100, busy: 0.3, packets: { count: 10, maxMs: 4 }, begun: 0 };
const quiet: Moment = { ...calm, packets: { count: 0, maxMs: 0 } };

it("late rows begin as fast as they can while no device speaks", () => {
  expect(new LateRate().adjust({ ...quiet, busy: 1, begun: 500 })).toBe(Number.POSITIVE_INFINITY);
});

it("late rows begin slowly when devices begin to speak, and faster while these do not wait", () => {
  const rate = new LateRate();
  expect(rate.adjust({ ...calm, begun: 400 })).toBe(minPerSecond);
  expect(rate.adjust({ ...calm, begun: 100 })).toBeCloseTo(1.1 * minPerSecond);
  expect(rate.adjust({ ...calm, begun: 110 })).toBeCloseTo(1.21 * minPerSecond);
});

it("a rate that is not used does not grow", () => {
  const rate = new LateRate();
  rate.adjust(calm);
  expect(rate.adjust({ ...calm, begun: 3 })).toBe(minPerSecond);
});

it.each([
  ["a packet had to wait", { packets: { count: 10, maxMs: 25 } }],
  ["the process had no time left", { busy: 0.95 }],
])("late rows begin at half the rate when %s, and never below the least", (_, trouble) => {
  const rate = new LateRate();
  rate.adjust(calm);
  for (let perSecond = minPerSecond; perSecond < 4000; ) {
    perSecond = rate.adjust({ ...calm, begun: Math.ceil(perSecond / 10) });
  }
  expect(rate.adjust({ ...calm, ...trouble, begun: 360 })).toBe(1800);
  expect(rate.adjust({ ...calm, ...trouble, begun: 180 })).toBe(minPerSecond);
});

it("late rows are free again two seconds after the last packet", () => {
  const rate = new LateRate();
  rate.adjust(calm);
  const rates = Array.from({ length: 20 }, () => rate.adjust(quiet));
  expect(rates.slice(0, 19)).toEqual(Array(19).fill(minPerSecond));
  expect(rates[19]).toBe(Number.POSITIVE_INFINITY);
});
