import { expect, it } from "vitest";
import { RecentWaits } from "./recent-waits.ts";

it("tells how many have waited since the last look, and the longest wait", () => {
  const waits = new RecentWaits();
  for (const waitedMs of [3, 12, 5]) waits.note(waitedMs);
  expect(waits.take()).toEqual({ count: 3, maxMs: 12, isWaiting: false });
  expect(waits.take()).toEqual({ count: 0, maxMs: 0, isWaiting: false });
});

it("tells whether somebody is still waiting", () => {
  const waits = new RecentWaits();
  let isWaiting = true;
  waits.watch(() => isWaiting);
  expect(waits.take()).toEqual({ count: 0, maxMs: 0, isWaiting: true });
  isWaiting = false;
  expect(waits.take().isWaiting).toBe(false);
});
