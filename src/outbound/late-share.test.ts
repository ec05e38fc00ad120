import { expect, it } from "vitest";
import { LateShare } from "./late-share.ts";

it("late work takes everything while nobody is up to date", () => {
  const share = new LateShare(1024);
  expect(share.adjust(1, 1024, false)).toBe(1024);
});

it("late work gives way while the process is busy, down to a few", () => {
  const share = new LateShare(1024);
  const limits = [32, 22, 15, 10, 7, 4, 4].map((inFlight) => share.adjust(0.95, inFlight, true));
  expect(limits).toEqual([22, 15, 10, 7, 4, 4, 4]);
});

it("late work takes more again while there is time left, and only if it uses what it has", () => {
  const share = new LateShare(1024);
  share.adjust(0.95, 14, true);
  expect(share.adjust(0.5, 9, true)).toBe(10);
  expect(share.adjust(0.5, 9, true)).toBe(10);
  expect(share.adjust(0.5, 5, true)).toBe(10);
  expect(share.adjust(0.9, 10, false)).toBe(1024);
});
