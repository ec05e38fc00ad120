import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type FenceSchedule, type FenceWindow, makeScheduleCheck } from "./fence-schedule.ts";

const everyDay = [1, 2, 3, 4, 5, 6, 7];
const window = (start: string, end: string, days = everyDay): FenceWindow => ({ days, start, end });
const within = (timezone: string, windows: FenceWindow[], ...times: string[]): boolean[] => {
  const isScheduled = makeScheduleCheck();
  return times.map((time) => isScheduled({ timezone, windows }, Date.parse(time)));
};

describe("a schedule", () => {
  it("is always without one", () => {
    expect(makeScheduleCheck()(null, 0)).toBe(true);
  });

  it("is within a window from its start until before its end", () => {
    const times = ["07:59:59.999Z", "08:00:00Z", "17:59:59.999Z", "18:00:00Z"].map((time) => `2026-03-02T${time}`);
    expect(within("UTC", [window("08:00", "18:00")], ...times)).toEqual([false, true, true, false]);
  });

  it("has the days of its zone", () => {
    // Monday 23:30 UTC is Tuesday in Rome.
    const times = ["2026-03-02T22:59:00Z", "2026-03-02T23:30:00Z"];
    expect(within("Europe/Rome", [window("00:00", "24:00", [2])], ...times)).toEqual([false, true]);
    expect(within("Europe/Rome", [window("00:00", "24:00", [1])], ...times)).toEqual([true, false]);
  });

  it("counts the hours after midnight to the day of the start", () => {
    const night = [window("22:00", "06:00", [7])];
    const times = [
      "2026-03-01T05:00Z",
      "2026-03-01T22:00Z",
      "2026-03-02T05:59Z",
      "2026-03-02T06:00Z",
      "2026-03-02T22:00Z",
    ];
    expect(within("UTC", night, ...times)).toEqual([false, true, true, false, false]);
    expect(within("UTC", [window("22:00", "00:00", [1])], "2026-03-02T23:59Z", "2026-03-03T00:00Z")).toEqual([
      true,
      false,
    ]);
  });

  it("has 24:00 as the end of the day", () => {
    const times = ["2026-03-02T23:59:59.999Z", "2026-03-03T00:00Z"];
    expect(within("UTC", [window("12:00", "24:00", [1])], ...times)).toEqual([true, false]);
  });

  it("is within when any of its windows is", () => {
    const windows = [window("08:00", "09:00"), window("20:00", "21:00")];
    expect(within("UTC", windows, "2026-03-02T08:30Z", "2026-03-02T12:00Z", "2026-03-02T20:30Z")).toEqual([
      true,
      false,
      true,
    ]);
  });

  it("follows the clocks when they are moved", () => {
    // Rome: 02:00 becomes 03:00 on 29 March, 03:00 becomes 02:00 on 25 October.
    const early = [window("02:00", "03:00")];
    expect(within("Europe/Rome", early, "2026-03-29T00:59Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z")).toEqual([
      false,
      false,
      true,
    ]);
    expect(within("Europe/Rome", early, "2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-10-25T02:00Z")).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("works before 1970, where days count backwards", () => {
    expect(within("UTC", [window("00:00", "24:00", [3])], "1969-12-31T12:00Z", "1969-12-30T12:00Z")).toEqual([
      true,
      false,
    ]);
  });
});

/** By the text that the platform shows on the wall: windows are pairs of such texts, on the day itself and on the one before. */
function reference({ timezone, windows }: FenceSchedule, tsMs: number): boolean {
  const wall = new Date(tsMs).toLocaleString("sv-SE", { timeZone: timezone });
  const dateOf = (shift: number) => new Date(Date.parse(`${wall.slice(0, 10)}T12:00Z`) + shift * 86_400_000);
  return [-1, 0].some((shift) => {
    const date = dateOf(shift);
    return windows.some(({ days, start, end }) => {
      if (!days.includes(date.getUTCDay() || 7)) return false;
      const last = end < start ? dateOf(shift + 1) : date;
      const [from, to] = [`${text(date)} ${start}:00`, `${text(last)} ${end}:00`];
      return from <= wall && wall < to;
    });
  });
}
const text = (date: Date): string => date.toISOString().slice(0, 10);

describe("any schedule", () => {
  // The clocks of the last move by half an hour.
  const moves: [string, string][] = [
    ["Europe/Rome", "2026-03-29T01:00Z"],
    ["Europe/Rome", "2026-10-25T01:00Z"],
    ["America/New_York", "2026-03-08T07:00Z"],
    ["America/New_York", "2026-11-01T06:00Z"],
    ["Australia/Lord_Howe", "2026-04-04T15:00Z"],
    ["Australia/Lord_Howe", "2026-10-03T15:30Z"],
  ];
  const clock = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map((parts) => parts.map((part) => String(part).padStart(2, "0")).join(":"));
  const anyWindow = fc
    .record({ days: fc.subarray(everyDay, { minLength: 1 }), start: clock, end: fc.oneof(clock, fc.constant("24:00")) })
    .filter(({ start, end }) => start !== end);

  it("agrees with the text on the wall, around the days on which the clocks are moved", () => {
    const isScheduled = makeScheduleCheck();
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(
        fc.constantFrom(...moves),
        fc.array(anyWindow, { minLength: 1, maxLength: 3 }),
        fc.array(fc.oneof(fc.integer({ min: -7200, max: 7200 }), fc.integer({ min: -300_000, max: 300_000 })), {
          minLength: 1,
          maxLength: 15,
        }),
        ([timezone, move], windows, seconds) => {
          const schedule = { timezone, windows };
          for (const second of seconds) {
            const tsMs = Date.parse(move) + second * 1000;
            const expected = reference(schedule, tsMs);
            seen.add(expected);
            expect(isScheduled(schedule, tsMs), `${timezone} ${new Date(tsMs).toISOString()}`).toBe(expected);
          }
        },
      ),
      { numRuns: 120 },
    );
    expect(seen.size).toBe(2);
  });
});
