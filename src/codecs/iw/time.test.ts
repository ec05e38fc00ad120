import { describe, expect, it } from "vitest";
import { utcTimeOf, utcTimeOfDigits } from "./time.ts";

describe("IW times", () => {
  it.each([
    [260506, 70530, Date.UTC(2026, 4, 6, 7, 5, 30)],
    [10101, 0, Date.UTC(2001, 0, 1)],
    [240229, 235959, Date.UTC(2024, 1, 29, 23, 59, 59)],
    [260228, 0, Date.UTC(2026, 1, 28)],
    [261231, 0, Date.UTC(2026, 11, 31)],
  ])("reads date %d and time %d", (date, time, timeMs) => {
    expect(utcTimeOfDigits(date, time)).toBe(timeMs);
    const text = String(date).padStart(6, "0") + String(time).padStart(6, "0");
    expect(utcTimeOf(text)).toBe(timeMs);
    expect(utcTimeOf(`20${text}`)).toBe(timeMs);
  });

  it.each([
    [260229, 0],
    [260431, 0],
    [260132, 0],
    [260100, 0],
    [260001, 0],
    [261301, 0],
    [260101, 240000],
    [260101, 6000],
    [260101, 60],
  ])("finds no time of the calendar in date %d and time %d", (date, time) => {
    expect(utcTimeOfDigits(date, time)).toBeNull();
  });

  it("knows the leap years of the centuries", () => {
    expect(utcTimeOf("2000-02-29 00:00:00")).toBe(Date.UTC(2000, 1, 29));
    expect(utcTimeOf("2100-02-29 00:00:00")).toBeNull();
    expect(utcTimeOf("0099-01-01 00:00:00")).toBeNull();
  });
});
