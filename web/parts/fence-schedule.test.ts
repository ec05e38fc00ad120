import { describe, expect, it } from "vitest";
import { dayRuns, describeSchedule, newWindow, problemOf, shownEnd, storedEnd, toggleDay } from "./fence-schedule.ts";

const window = newWindow();

describe("the schedule of a fence", () => {
  it("joins days that follow each other", () => {
    expect(dayRuns([7, 1, 2, 3])).toEqual([
      [1, 3],
      [7, 7],
    ]);
    expect(dayRuns([])).toEqual([]);
  });

  it("is said in the words of the reader", () => {
    const schedule = {
      timezone: "Europe/Rome",
      windows: [window, { days: [6, 7], start: "00:00", end: "24:00" }, { days: [3], start: "22:00", end: "06:00" }],
    };
    expect(describeSchedule(schedule, "en")).toBe("Mon–Fri 08:00–18:00; Sat, Sun 00:00–24:00; Wed 22:00–06:00");
    expect(describeSchedule(schedule, "it")).toBe("lun–ven 08:00–18:00; sab, dom 00:00–24:00; mer 22:00–06:00");
  });

  it("keeps the days in the order of the week", () => {
    expect(toggleDay({ ...window, days: [1, 5] }, 3).days).toEqual([1, 3, 5]);
    expect(toggleDay({ ...window, days: [1, 3, 5] }, 3).days).toEqual([1, 5]);
  });

  it("shows midnight at the end of a day as a time that a field can hold", () => {
    expect([shownEnd("24:00"), shownEnd("18:00")]).toEqual(["00:00", "18:00"]);
    expect([storedEnd("00:00"), storedEnd("18:00")]).toEqual(["24:00", "18:00"]);
  });

  it("says what is missing before the service refuses it", () => {
    expect(problemOf(window)).toBeUndefined();
    expect(problemOf({ ...window, days: [] })).toBe("noDays");
    expect(problemOf({ ...window, end: "" })).toBe("noTimes");
    expect(problemOf({ ...window, end: "08:00" })).toBe("sameTimes");
    expect(problemOf({ days: [1], start: "00:00", end: storedEnd("00:00") })).toBeUndefined();
  });
});
