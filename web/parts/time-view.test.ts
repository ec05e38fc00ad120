import { describe, expect, it } from "vitest";
import { addDays, dayOf, pan, startOfDay, viewAfterKey, viewAfterTouch, windowOf, within, zoom } from "./time-view.ts";

const hourMs = 3_600_000;
const bounds = { fromMs: 0, toMs: 24 * hourMs };

describe("a calendar day", () => {
  it("begins at midnight of the zone, also on the days when the clocks change", () => {
    expect(new Date(startOfDay("2026-03-29", "Europe/Rome")).toISOString()).toBe("2026-03-28T23:00:00.000Z");
    expect(new Date(startOfDay("2026-03-30", "Europe/Rome")).toISOString()).toBe("2026-03-29T22:00:00.000Z");
    expect(new Date(startOfDay("2026-10-26", "Europe/Rome")).toISOString()).toBe("2026-10-25T23:00:00.000Z");
    expect(new Date(startOfDay("2026-07-01", "America/New_York")).toISOString()).toBe("2026-07-01T04:00:00.000Z");
    expect(new Date(startOfDay("2026-07-01", "Asia/Kathmandu")).toISOString()).toBe("2026-06-30T18:15:00.000Z");
  });

  it("is told by the clock of the zone", () => {
    const lateMs = Date.parse("2026-03-01T23:30:00Z");
    expect(dayOf(lateMs, "Europe/Rome")).toBe("2026-03-02");
    expect(dayOf(lateMs, "America/New_York")).toBe("2026-03-01");
    expect(addDays("2026-02-28", 1)).toBe("2026-03-01");
  });
});

describe("the window of a range", () => {
  const nowMs = Date.parse("2026-03-29T12:00:00Z");
  const window = (range: "hours" | "day" | "week" | "weeks", day = "2026-03-29") =>
    windowOf(range, day, "Europe/Rome", nowMs);

  it("is the whole day, which has 23 hours when summer time begins", () => {
    const { fromMs, toMs } = window("day");
    expect((toMs - fromMs) / hourMs).toBe(23);
  });

  it("ends with the chosen day for weeks, and now for the hours of today", () => {
    expect(new Date(window("week").fromMs).toISOString()).toBe("2026-03-22T23:00:00.000Z");
    expect(new Date(window("weeks").fromMs).toISOString()).toBe("2026-03-01T23:00:00.000Z");
    expect(window("hours")).toEqual({ fromMs: nowMs - 6 * hourMs, toMs: nowMs });
    expect(new Date(window("hours", "2026-03-28").toMs).toISOString()).toBe("2026-03-28T23:00:00.000Z");
  });
});

describe("zooming and moving", () => {
  it("keeps the time under the pointer and stays within the bounds", () => {
    expect(zoom(bounds, bounds, 0.5, 6 * hourMs)).toEqual({ fromMs: 3 * hourMs, toMs: 15 * hourMs });
    expect(zoom({ fromMs: 0, toMs: hourMs }, bounds, 100, 0)).toEqual(bounds);
    expect(pan({ fromMs: 0, toMs: 4 * hourMs }, bounds, -0.5)).toEqual({ fromMs: 0, toMs: 4 * hourMs });
    expect(within({ fromMs: 23 * hourMs, toMs: 30 * hourMs }, bounds)).toEqual({
      fromMs: 17 * hourMs,
      toMs: 24 * hourMs,
    });
  });

  it("never shows less than five minutes", () => {
    const { fromMs, toMs } = zoom({ fromMs: 0, toMs: 6 * 60_000 }, bounds, 0.01, 3 * 60_000);
    expect(toMs - fromMs).toBe(5 * 60_000);
  });

  it("follows one finger, and two that move apart", () => {
    const view = { fromMs: 8 * hourMs, toMs: 16 * hourMs };
    expect(viewAfterTouch(view, bounds, [100], [200], 800)).toEqual({ fromMs: 7 * hourMs, toMs: 15 * hourMs });
    expect(viewAfterTouch(view, bounds, [300, 500], [200, 600], 800)).toEqual({
      fromMs: 10 * hourMs,
      toMs: 14 * hourMs,
    });
  });

  it("works with keys: plus and minus around the chosen time, arrows, and zero for everything", () => {
    const view = { fromMs: 4 * hourMs, toMs: 8 * hourMs };
    expect(viewAfterKey("+", view, bounds, 5 * hourMs)).toEqual({ fromMs: 4.5 * hourMs, toMs: 6.5 * hourMs });
    expect(viewAfterKey("-", view, bounds, 20 * hourMs)).toEqual({ fromMs: 2 * hourMs, toMs: 10 * hourMs });
    expect(viewAfterKey("ArrowRight", view, bounds, 0)).toEqual({ fromMs: 5 * hourMs, toMs: 9 * hourMs });
    expect(viewAfterKey("0", view, bounds, 0)).toBe(bounds);
    expect(viewAfterKey("x", view, bounds, 0)).toBeUndefined();
  });
});
