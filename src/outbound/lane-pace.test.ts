import { expect, it } from "vitest";
import { LanePace, probeEveryMs } from "./lane-pace.ts";

it("a lane allows more with every success, up to the maximum, and half after a timeout", () => {
  const pace = new LanePace(8);
  for (let n = 0; n < 10; n++) pace.succeeded();
  expect(pace.limit).toBe(8);
  pace.failed(0, false);
  expect(pace.limit).toBe(8);
  for (const limit of [4, 2, 2]) {
    pace.failed(0, true);
    expect(pace.limit).toBe(limit);
  }
});

it("a lane tries new rows one by one while too many wait, until one succeeds", () => {
  const pace = new LanePace(8);
  expect(pace.isHeldBack(10_000, 0, 0)).toBe(false);
  pace.failed(1000, false);
  expect(pace.isHeldBack(9999, 3, 1000)).toBe(false);
  expect(pace.isHeldBack(10_000, 0, 1000)).toBe(true);
  expect(pace.isHeldBack(10_000, 0, 1000 + probeEveryMs)).toBe(false);
  expect(pace.isHeldBack(10_000, 1, 1000 + probeEveryMs)).toBe(true);
  pace.succeeded();
  expect(pace.isHeldBack(10_000, 1, 1000)).toBe(false);
});
