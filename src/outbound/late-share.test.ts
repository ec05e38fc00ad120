import { expect, it } from "vitest";
import { LateShare, type ShareMoment } from "./late-share.ts";

const moment: ShareMoment = { busy: 0.5, lateInFlight: 1024, hasUpToDate: true, isTooSlow: false };

it("late work takes everything while nobody is up to date", () => {
  const share = new LateShare(1024);
  expect(share.adjust({ ...moment, busy: 1, hasUpToDate: false })).toBe(1024);
});

it("late work gives way while the process is busy, down to a few", () => {
  const share = new LateShare(1024);
  const limits = [32, 22, 15, 10, 7, 4, 4].map((lateInFlight) => share.adjust({ ...moment, busy: 0.95, lateInFlight }));
  expect(limits).toEqual([22, 15, 10, 7, 4, 4, 4]);
});

it("late work takes more again while there is time left, and only if it uses what it has", () => {
  const share = new LateShare(1024);
  share.adjust({ ...moment, busy: 0.95, lateInFlight: 14 });
  expect(share.adjust({ ...moment, lateInFlight: 9 })).toBe(10);
  expect(share.adjust({ ...moment, lateInFlight: 9 })).toBe(10);
  expect(share.adjust({ ...moment, lateInFlight: 5 })).toBe(10);
  expect(share.adjust({ ...moment, busy: 0.9, lateInFlight: 10, hasUpToDate: false })).toBe(1024);
});

it("late work takes more in a busy process as well while backlogs would not end", () => {
  const share = new LateShare(1024);
  share.adjust({ ...moment, busy: 0.95, lateInFlight: 5 });
  // Receivers that take 100 ms: four at a time are 40 rows a second.
  let inFlight = 4;
  for (let n = 0; n < 100; n++) {
    inFlight = share.adjust({ ...moment, busy: 0.95, lateInFlight: inFlight, isTooSlow: inFlight * 10 < 1875 });
  }
  expect(inFlight).toBeGreaterThan(0.5 * 187);
});
