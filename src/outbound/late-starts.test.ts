import { expect, it } from "vitest";
import { LateStarts } from "./late-starts.ts";

it("late rows begin at their rate, also in a process whose turns take long", () => {
  for (const turnMs of [7, 20, 33, 150]) {
    const starts = new LateStarts();
    let [begun, last] = [0, 0];
    for (let timeMs = 0; timeMs < 60_000; timeMs += turnMs) {
      last = starts.next(1875, turnMs, last);
      begun += last;
    }
    expect(Math.abs(begun / 60 - 1875)).toBeLessThan(10);
  }
});

it("late rows that came a moment late begin with the next ones, and no more of them", () => {
  const starts = new LateStarts();
  expect(starts.next(1000, 20, 0)).toBe(20);
  expect(starts.next(1000, 20, 5)).toBe(35);
  expect(starts.next(1000, 20, 0)).toBe(40);
  expect(starts.next(1000, 20, 0)).toBe(40);
  expect(starts.next(1000, 20, 40)).toBe(20);
});

it("late rows do not all begin at once that could not while the process stood still", () => {
  expect(new LateStarts().next(1000, 5000, 0)).toBe(200);
});
