import { expect, it } from "vitest";
import { makeIsoTime } from "./iso-time.ts";

it("an ISO time writes what toISOString writes", () => {
  const iso = makeIsoTime();
  const base = Date.UTC(2026, 2, 1, 8, 15, 24);
  const times = [0, 1, 999, 1000, 63_999, 64_000, 64_001, 0.7, 86_400_000].map((offset) => base + offset);
  for (const time of [...times, ...times, 0, -1, -1000, -64_001, Date.UTC(2099, 0, 1), 8.64e15, -8.64e15]) {
    expect(iso(time)).toBe(new Date(time).toISOString());
  }
  expect(() => iso(Number.NaN)).toThrow(RangeError);
  expect(() => iso(8.65e15)).toThrow(RangeError);
});
