import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Sweep } from "./sweep.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setImmediate", "clearImmediate"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("a sweep visits all, some in each turn, also while some leave and others come", async () => {
  const all = new Set(Array.from({ length: 5000 }, (_, n) => n));
  const visited: number[] = [];
  const sweep = new Sweep(
    () => all.values(),
    1000,
    (n) => {
      visited.push(n);
      all.delete(n);
      if (n === 4999) all.add(5000);
    },
  );
  vi.advanceTimersByTime(1000);
  const first = visited.length;
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(5000);
  for (let turn = 0; turn < 5; turn++) vi.advanceTimersToNextTimer();
  expect(visited).toEqual(Array.from({ length: 5001 }, (_, n) => n));
  sweep.stop();
});

test("a sweep that has stopped visits nobody", () => {
  let visits = 0;
  const sweep = new Sweep(
    () => Array.from({ length: 5000 }).values(),
    1000,
    () => visits++,
  );
  vi.advanceTimersByTime(1000);
  const before = visits;
  sweep.stop();
  vi.advanceTimersByTime(5000);
  expect(visits).toBe(before);
});
