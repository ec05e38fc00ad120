import { describe, expect, it } from "vitest";
import { type BatteryReport, evaluateBattery } from "./battery.ts";
import { isLate } from "./lateness.ts";

/** Numbers of the packets that make an event. */
function events(...packets: Partial<BatteryReport>[]): number[] {
  let isRaised = false;
  return packets.flatMap((given, index) => {
    const packet = { percent: null, hasAlarm: false, isLate: false, ...given };
    const outcome = evaluateBattery(isRaised, packet);
    isRaised = outcome.isRaised;
    return outcome.isEvent ? [index] : [];
  });
}
const levels = (...percents: number[]) => events(...percents.map((percent) => ({ percent })));

describe("a low battery", () => {
  it("is raised at 15 percent, once", () => {
    expect(levels(40, 16, 15, 14, 3)).toEqual([2]);
    expect(levels(15)).toEqual([0]);
  });

  it("is armed again only above 20 percent", () => {
    expect(levels(15, 20, 15, 21, 15)).toEqual([0, 4]);
  });

  it("is raised by the device's own alarm as well, and then not again", () => {
    expect(events({ hasAlarm: true }, { percent: 10 }, { hasAlarm: true })).toEqual([0]);
    expect(events({ percent: 12 }, { hasAlarm: true })).toEqual([0]);
    expect(events({ hasAlarm: true, percent: 12 }, { percent: 30 }, { hasAlarm: true })).toEqual([0, 2]);
  });

  it("is not armed again by the packet of the alarm, only by a later one", () => {
    expect(events({ hasAlarm: true, percent: 30 }, { percent: 12 })).toEqual([0]);
    expect(events({ hasAlarm: true, percent: 30 }, { percent: 30 }, { percent: 12 })).toEqual([0, 2]);
  });

  it("takes no level from a late packet, but its alarm", () => {
    expect(events({ percent: 10, isLate: true }, { percent: 10 })).toEqual([1]);
    expect(events({ percent: 10 }, { percent: 90, isLate: true }, { percent: 10 })).toEqual([0]);
    expect(events({ hasAlarm: true, isLate: true })).toEqual([0]);
  });
});

describe("lateness", () => {
  it("begins after 15 minutes", () => {
    expect(isLate(0, 900_000)).toBe(false);
    expect(isLate(0, 900_001)).toBe(true);
    expect(isLate(60_000, 0)).toBe(false);
  });
});
