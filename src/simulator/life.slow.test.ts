import { describe, expect, it } from "vitest";
import { distanceM } from "./ground.ts";
import { dayOf, type Person, placeOf, planDay, trueStays } from "./itinerary.ts";
import { incidentsBetween, momentAt, nextIncident, truePositionAt } from "./life.ts";
import { sightingAt } from "./sighting.ts";

const city = { lat: 41.9028, lng: 12.4964, utcOffsetMinutes: 60, mcc: 222, mnc: 1 };
const people: Person[] = Array.from({ length: 15 }, (_, index) => ({ seed: 1000 + index, city }));
const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;
const start = Date.parse("2026-03-01T23:00:00Z");
const times = Array.from({ length: 288 }, (_, index) => start + index * 5 * minuteMs);

describe("a life", () => {
  it("is the same for the same seed and another for another", () => {
    const tell = (person: Person) => times.map((time) => momentAt(person, time));
    expect(tell({ seed: 7, city })).toEqual(tell({ seed: 7, city: { ...city } }));
    expect(tell({ seed: 7, city })).not.toEqual(tell({ seed: 8, city }));
    expect(trueStays({ seed: 7, city }, start, start + dayMs)).toEqual(
      trueStays({ seed: 7, city }, start, start + dayMs),
    );
  });

  it("fills every day without gaps, from home to home", () => {
    for (const person of people) {
      const day = planDay(person, dayOf(person, start));
      let end = day.startMs;
      for (const leg of day.legs) {
        expect(leg.fromMs).toBe(end);
        expect(leg.toMs).toBeGreaterThan(leg.fromMs);
        end = leg.toMs;
      }
      expect(end).toBe(day.endMs);
      for (const leg of [day.legs[0], day.legs.at(-1)]) expect(leg).toMatchObject({ place: { name: "home" } });
      const lastLeg = day.legs.at(-1);
      expect(lastLeg?.fromMs).toBeLessThan(day.goesToBedMs);
    }
  });

  it("has true stays that agree with the true positions", () => {
    for (const person of people) {
      const stays = trueStays(person, start, start + 2 * dayMs);
      for (const { place, fromMs, toMs } of stays) {
        for (const time of [fromMs, (fromMs + toMs) / 2, toMs - 1]) {
          expect(distanceM(place, truePositionAt(person, time))).toBeLessThan(0.01);
        }
      }
      for (let index = 1; index < stays.length; index++) {
        const [before, after] = [stays[index - 1]!, stays[index]!];
        expect(after.fromMs).toBeGreaterThan(before.toMs);
        expect(momentAt(person, (before.toMs + after.fromMs) / 2).place).toBeNull();
      }
      // A night is one stay.
      const midnight = start + dayMs;
      expect(
        stays.some(({ place, fromMs, toMs }) => place.name === "home" && fromMs < midnight && toMs > midnight),
      ).toBe(true);
    }
  });

  it("walks at walking speed", () => {
    let walked = 0;
    for (const person of people) {
      for (const time of times) {
        const { activity, speedKmh } = momentAt(person, time);
        if (activity === "walking") {
          walked++;
          expect(speedKmh).toBeGreaterThan(3);
          expect(speedKmh).toBeLessThan(6);
        }
        const moved = distanceM(truePositionAt(person, time), truePositionAt(person, time + 1000));
        expect(moved).toBeLessThan(1.7);
      }
    }
    expect(walked).toBeGreaterThan(100);
  });

  it("has readings that fit what the person does", () => {
    for (const person of people) {
      const moments = times.map((time) => momentAt(person, time));
      let steps = 0;
      for (const moment of moments.slice(0, -1)) {
        expect(moment.steps).toBeGreaterThanOrEqual(steps);
        steps = moment.steps;
        expect(moment.pulse).toBeGreaterThan(38);
        expect(moment.pulse).toBeLessThan(130);
        expect(moment.systolic - moment.diastolic).toBeGreaterThan(25);
        expect(moment.oxygen).toBeGreaterThanOrEqual(92);
        expect(moment.temperature).toBeGreaterThan(35.5);
        expect(moment.temperature).toBeLessThan(37.5);
        expect(moment.battery).toBeGreaterThanOrEqual(4);
        expect(moment.battery).toBeLessThanOrEqual(100);
      }
      const average = (activity: string): number => {
        const pulses = moments.filter((moment) => moment.activity === activity).map(({ pulse }) => pulse);
        return pulses.reduce((sum, pulse) => sum + pulse, 0) / pulses.length;
      };
      expect(average("sleeping")).toBeLessThan(average("resting"));
      if (moments.some(({ activity }) => activity === "walking")) {
        expect(average("walking")).toBeGreaterThan(average("resting"));
      }
      expect(momentAt(person, start + 5 * minuteMs).steps).toBe(0);
      const { wakesMs } = planDay(person, dayOf(person, start));
      expect(momentAt(person, wakesMs).battery).toBe(100);
    }
  });

  it("has rare incidents, found one by one as well as in a window", () => {
    const year = start + 365 * dayMs;
    let [sos, falls] = [0, 0];
    for (const person of people) {
      const all = incidentsBetween(person, start, year);
      sos += all.filter(({ kind }) => kind === "sos").length;
      falls += all.filter(({ kind }) => kind === "fall").length;
      expect(nextIncident(person, start)).toEqual(all[0]);
      expect(nextIncident(person, all[3]!.atMs)).toEqual(all[4]);
    }
    expect(sos / people.length).toBeGreaterThan(14);
    expect(sos / people.length).toBeLessThan(23);
    expect(falls / people.length).toBeLessThan(3);
    expect(falls).toBeGreaterThan(0);
  });
});

describe("the receivers", () => {
  const seenAt = (person: Person, time: number, hasNoise: boolean) =>
    sightingAt(person, time, momentAt(person, time), hasNoise);

  it("lose the fix in buildings and see networks there", () => {
    const person = people[0]!;
    const nights = times.slice(0, 60).map((time) => seenAt(person, time, true));
    expect(nights.filter(({ gps }) => gps === null).length).toBeGreaterThan(30);
    for (const { cells, accessPoints } of nights) {
      expect(cells.length).toBeGreaterThan(0);
      expect(accessPoints.map(({ mac }) => mac)).toEqual(nights[0]!.accessPoints.map(({ mac }) => mac));
    }
    expect(nights[0]!.accessPoints[0]!.mac).toMatch(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
  });

  it("tell the true place without noise, and one near it with noise", () => {
    const away: number[] = [];
    for (const person of people) {
      for (const time of times) {
        const exact = seenAt(person, time, false);
        const noisy = seenAt(person, time, true);
        expect(exact.gps === null).toBe(noisy.gps === null);
        if (!exact.gps || !noisy.gps) continue;
        expect(distanceM(exact.gps, truePositionAt(person, time))).toBeLessThan(0.01);
        away.push(distanceM(noisy.gps, truePositionAt(person, time)));
      }
    }
    expect(Math.max(...away)).toBeLessThan(75);
    expect(Math.max(...away)).toBeGreaterThan(5);
  });

  it("know everybody's home to be somewhere else", () => {
    const homes = people.map((person) => placeOf(person, "home"));
    for (const home of homes) expect(distanceM(home, city)).toBeLessThan(3001);
    expect(new Set(homes.map(({ lat }) => lat)).size).toBe(people.length);
  });
});
