import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { distanceM } from "../lib/geo.ts";
import {
  bandM,
  evaluateFix,
  evaluateTimer,
  type Fence,
  type FenceFact,
  type FenceFix,
  type FenceState,
  nextDueMs,
} from "./fence.ts";
import { makeScheduleCheck } from "./fence-schedule.ts";

const monday = Date.parse("2026-03-02T00:00:00Z");
const noon = monday + 12 * 3_600_000;
const isScheduled = makeScheduleCheck();
const metresPerDegree = distanceM({ lat: 0, lng: 0 }, { lat: 1, lng: 0 });

const home: Fence = {
  id: "home",
  name: "Home",
  scope: "device",
  lat: 41.9,
  lng: 12.5,
  radiusM: 150,
  triggerOnEnter: true,
  triggerOnExit: true,
  triggerOnDwell: false,
  dwellThresholdSeconds: null,
  schedule: null,
  revision: "1",
  sinceVersion: 0,
  changedMs: monday,
};
const lingering: Fence = { ...home, triggerOnDwell: true, dwellThresholdSeconds: 600 };

interface FixOptions {
  accuracyM?: number | null;
  source?: string;
  /** Service time, when it is another one than that of the fix. */
  nowMs?: number;
}

/** A device that tells its distance from the centre. Seconds count from noon. */
class Walk {
  state: FenceState | undefined;
  readonly facts: FenceFact[] = [];
  fence: Fence;
  #previous: FenceFix | null = null;

  constructor(fence: Fence = home) {
    this.fence = fence;
  }

  at(seconds: number, metres: number, { accuracyM = 10, source = "gps", nowMs }: FixOptions = {}): this {
    const tsMs = noon + seconds * 1000;
    const now = nowMs ?? tsMs;
    const { lat, lng } = this.fence;
    const fix = { tsMs, receivedAtMs: now, lat: lat + metres / metresPerDegree, lng, accuracyM, source };
    const context = { previousFix: this.#previous, isKnownOutside: false, nowMs: now, isScheduled };
    this.#take(evaluateFix(asStored(this.state), this.fence, fix, context));
    this.#previous = fix;
    return this;
  }

  timer(seconds: number): this {
    if (this.state) this.#take(evaluateTimer(asStored(this.state), this.fence, noon + seconds * 1000, isScheduled));
    return this;
  }

  #take({ state, facts }: { state: FenceState | undefined; facts: FenceFact[] }): void {
    this.state = state;
    this.facts.push(...facts);
  }

  get lines(): string[] {
    return this.facts.map(({ kind, tsMs }) => `${kind} ${(tsMs - noon) / 1000}`);
  }
}

const asStored = <T extends FenceState | undefined>(state: T): T => state && JSON.parse(JSON.stringify(state));

describe("a fence", () => {
  it("takes the first fix as it is, inside or outside", () => {
    expect(new Walk().at(0, 0).lines).toEqual([]);
    expect(new Walk().at(0, 0).state?.side).toBe("inside");
    expect(new Walk().at(0, 500).state?.side).toBe("outside");
  });

  it("reports an entry and an exit at once when a gps fix is clear of the boundary", () => {
    const walk = new Walk().at(0, 500).at(60, 99).at(120, 90).at(180, 201).at(240, 500);
    expect(walk.lines).toEqual(["enter 60", "exit 180"]);
    expect(walk.facts[0]).toMatchObject({ dwellSeconds: null, place: { accuracyM: 10, source: "gps" }, fence: home });
    expect(walk.facts[0]?.distanceM).toBeCloseTo(99, 3);
    expect(walk.facts[0]?.place.tsMs).toBe(noon + 60_000);
  });

  it("measures clearness from the radius, by 50 m or twice the accuracy", () => {
    expect(new Walk().at(0, 500).at(60, 101).lines).toEqual([]);
    expect(new Walk().at(0, 500).at(60, 99, { accuracyM: 25.6 }).lines).toEqual([]);
    expect(new Walk().at(0, 500).at(60, 99, { accuracyM: 25 }).lines).toEqual(["enter 60"]);
    expect(new Walk().at(0, 0).at(60, 199).lines).toEqual([]);
    expect(new Walk().at(0, 0).at(60, 209, { accuracyM: 30 }).lines).toEqual([]);
    expect(new Walk().at(0, 0).at(60, 211, { accuracyM: 30 }).lines).toEqual(["exit 60"]);
  });

  it("never confirms at once in a fence that is too small to be clear inside", () => {
    const walk = new Walk({ ...home, radiusM: 50 }).at(0, 500).at(60, 0, { accuracyM: null });
    expect(walk.lines).toEqual([]);
    expect(walk.at(90, 1).lines).toEqual(["enter 60"]);
  });

  it("takes a null accuracy as 0", () => {
    expect(new Walk().at(0, 500).at(60, 99, { accuracyM: null }).lines).toEqual(["enter 60"]);
  });

  it("confirms at once only what is no faster than 250 km/h", () => {
    expect(new Walk().at(0, 3000).at(40, 0).lines).toEqual([]);
    expect(new Walk().at(0, 3000).at(44, 0).lines).toEqual(["enter 44"]);
  });

  it("counts two fixes of one second as a second apart", () => {
    expect(new Walk().at(0, 500).at(60, 160).at(60.1, 95).lines).toEqual(["enter 60.1"]);
    expect(new Walk().at(0, 500).at(60, 160).at(60.5, 85).lines).toEqual([]);
  });

  it("wants two agreeing fixes from other sources, and reports the time and place of the first", () => {
    const walk = new Walk().at(0, 500).at(60, 0, { source: "wifi" });
    expect(walk.lines).toEqual([]);
    expect(walk.at(90, 40, { source: "lbs" }).lines).toEqual(["enter 60"]);
    expect(walk.facts[0]?.place).toMatchObject({ source: "wifi", tsMs: noon + 60_000 });
    expect(walk.facts[0]?.distanceM).toBeCloseTo(0, 3);
  });

  it("reports the first fix of a change also when the second would have been enough", () => {
    expect(new Walk().at(0, 500).at(60, 120).at(70, 0).lines).toEqual(["enter 60"]);
  });

  it("forgets a change that the next fix contradicts", () => {
    const walk = new Walk().at(0, 500).at(60, 120).at(70, 500).at(200, 500).timer(300);
    expect(walk.lines).toEqual([]);
    expect(walk.at(310, 120).lines).toEqual([]);
    expect(walk.at(320, 120).lines).toEqual(["enter 310"]);
  });

  it("confirms a change that nothing contradicts for 60 s of the service's clock", () => {
    const walk = new Walk().at(0, 500).at(60, 120, { nowMs: noon + 65_000 });
    expect(walk.state && nextDueMs(walk.state, home)).toBe(noon + 125_000);
    expect(walk.timer(124.999).lines).toEqual([]);
    expect(walk.timer(125).lines).toEqual(["enter 60"]);
    expect(walk.state && nextDueMs(walk.state, home)).toBeNull();
  });

  it("lets the timer go first when a contradiction comes after the 60 s", () => {
    const walk = new Walk().at(0, 500).at(60, 120).at(121, 500).at(180, 500);
    expect(walk.lines).toEqual(["enter 60", "exit 121"]);
  });

  it("stays in the band around the boundary, which neither confirms nor contradicts", () => {
    // 150 m: the band ends at 170 m, by the 20 m.
    expect(new Walk().at(0, 0).at(60, 169).at(90, 169).timer(500).lines).toEqual([]);
    expect(new Walk().at(0, 500).at(60, 151).at(90, 169).timer(500).lines).toEqual([]);
    expect(new Walk().at(0, 500).at(60, 120).at(70, 160).at(80, 120).lines).toEqual(["enter 60"]);
    expect(new Walk().at(0, 500).at(60, 120).at(70, 160).timer(120).lines).toEqual(["enter 60"]);
  });

  it("has a band of a tenth of the radius, 20 m or the accuracy, whichever is widest", () => {
    expect([bandM(150, null), bandM(150, 10), bandM(150, 80), bandM(1000, 80), bandM(1000, null)]).toEqual([
      20, 20, 80, 100, 100,
    ]);
    expect(new Walk().at(0, 0).at(60, 229, { accuracyM: 80 }).state?.pending).toBeNull();
    expect(new Walk().at(0, 0).at(60, 231, { accuracyM: 80 }).state?.pending).not.toBeNull();
  });

  it("is inside at the radius itself", () => {
    const fix = { tsMs: noon, receivedAtMs: noon, lat: 41.9011, lng: 12.5, accuracyM: null, source: "gps" };
    const context = { previousFix: null, isKnownOutside: false, nowMs: noon, isScheduled };
    const exact = { ...home, radiusM: distanceM(home, fix) };
    expect(evaluateFix(undefined, exact, fix, context).state?.side).toBe("inside");
  });

  it("does not know the side after a first fix in the band", () => {
    const walk = new Walk().at(0, 160);
    expect(walk.state?.side).toBe("unknown");
    expect(walk.at(60, 0).at(120, 500).lines).toEqual(["exit 120"]);
  });

  it("is not moved by a fix that is less exact than the radius", () => {
    expect(new Walk().at(0, 0, { accuracyM: 151 }).state).toBeUndefined();
    expect(new Walk().at(0, 0).at(60, 5000, { accuracyM: 151 }).at(90, 5000, { accuracyM: 151 }).state?.pending).toBe(
      null,
    );
    const pending = new Walk().at(0, 500).at(60, 120).at(70, 500, { accuracyM: 151 });
    expect(pending.timer(120).lines).toEqual(["enter 60"]);
    expect(new Walk().at(0, 0, { accuracyM: 150 }).state?.side).toBe("inside");
  });

  it("starts again with another revision", () => {
    const walk = new Walk().at(0, 500);
    walk.fence = { ...home, revision: "2" };
    expect(walk.at(60, 0).lines).toEqual([]);
    expect(walk.at(120, 500).lines).toEqual(["exit 120"]);
  });

  it("reports only the events it is asked for, and changes sides all the same", () => {
    const quiet = { ...home, triggerOnEnter: false };
    expect(new Walk(quiet).at(0, 500).at(60, 0).at(120, 500).lines).toEqual(["exit 120"]);
    expect(new Walk({ ...home, triggerOnExit: false }).at(0, 500).at(60, 0).at(120, 500).at(180, 0).lines).toEqual([
      "enter 60",
      "enter 180",
    ]);
  });

  it("keeps its object when a fix changes nothing", () => {
    const walk = new Walk().at(0, 0);
    const { state } = walk;
    const fix = { tsMs: noon + 5000, receivedAtMs: noon + 5000, lat: 41.9, lng: 12.5, accuracyM: 5, source: "gps" };
    const context = { previousFix: null, isKnownOutside: false, nowMs: noon + 5000, isScheduled };
    expect(evaluateFix(state, home, fix, context).state).toBe(state);
  });
});

describe("a stay", () => {
  it("is reported once, by the timer, counted from the fix that caused the entry", () => {
    const walk = new Walk(lingering).at(0, 500).at(60, 120).at(90, 120);
    expect(walk.state && nextDueMs(walk.state, lingering)).toBe(noon + 660_000);
    expect(walk.timer(659).lines).toEqual(["enter 60"]);
    expect(walk.timer(660).timer(5000).at(5010, 10).lines).toEqual(["enter 60", "dwell 660"]);
    expect(walk.facts[1]).toMatchObject({ dwellSeconds: 600, place: { tsMs: noon + 60_000 } });
    expect(walk.state && nextDueMs(walk.state, lingering)).toBeNull();
  });

  it("is reported with the time at which it was due, however late the timer runs", () => {
    expect(new Walk(lingering).at(0, 500).at(60, 0).timer(4000).lines).toEqual(["enter 60", "dwell 660"]);
  });

  it("counts from a first fix inside", () => {
    expect(new Walk(lingering).at(0, 0).timer(600).lines).toEqual(["dwell 600"]);
  });

  it("is reported again for the next stay", () => {
    const walk = new Walk(lingering).at(0, 0).timer(600).at(700, 500).at(800, 0).timer(1400);
    expect(walk.lines).toEqual(["dwell 600", "exit 700", "enter 800", "dwell 1400"]);
  });

  it("is reported before an exit that arrives later", () => {
    expect(new Walk(lingering).at(0, 0).at(900, 500).lines).toEqual(["dwell 600", "exit 900"]);
  });

  it("is not reported when the device has already left, nor while its entry waits for confirmation", () => {
    expect(new Walk(lingering).at(0, 0).at(599, 500).timer(2000).lines).toEqual(["exit 599"]);
    const brief = { ...lingering, dwellThresholdSeconds: 10 };
    const walk = new Walk(brief).at(0, 500).at(60, 120);
    expect(walk.timer(119).lines).toEqual([]);
    expect(walk.timer(120).lines).toEqual(["enter 60", "dwell 120"]);
    expect(walk.facts[1]?.dwellSeconds).toBe(60);
  });

  it("goes on while an exit waits for confirmation, and ends with it", () => {
    expect(new Walk(lingering).at(0, 0).at(590, 180).timer(600).lines).toEqual(["dwell 600"]);
    expect(new Walk(lingering).at(0, 0).at(530, 180).timer(600).lines).toEqual(["exit 530"]);
  });

  it("is reported for a stay in progress when the fence begins to ask for it, counted from then on", () => {
    const walk = new Walk().at(0, 0);
    walk.fence = { ...lingering, changedMs: noon + 5_000_000 };
    expect(walk.timer(6000).lines).toEqual(["dwell 5000"]);
  });

  it("follows a threshold that changes during the stay", () => {
    const walk = new Walk(lingering).at(0, 0);
    walk.fence = { ...lingering, dwellThresholdSeconds: 30, changedMs: noon + 10_000 };
    expect(walk.timer(40).lines).toEqual(["dwell 30"]);
  });
});

describe("a schedule", () => {
  const window = (start: string, end: string): Partial<Fence> => ({
    schedule: { timezone: "UTC", windows: [{ days: [1], start, end }] },
  });

  it("is asked at the time of the fix that changed the side, not when the change is confirmed", () => {
    const untilNoon = { ...home, ...window("11:00", "12:01") };
    expect(new Walk(untilNoon).at(0, 500).at(59, 120).timer(119).lines).toEqual(["enter 59"]);
    expect(new Walk(untilNoon).at(0, 500).at(60, 120).timer(120).lines).toEqual([]);
  });

  it("moves the state outside its windows, and makes nothing of it when one opens", () => {
    const later = { ...lingering, ...window("12:10", "24:00") };
    const walk = new Walk(later).at(0, 500).at(60, 0).at(700, 0).timer(700);
    expect(walk.lines).toEqual(["dwell 660"]);
    const tooLate = { ...lingering, ...window("13:00", "24:00") };
    const quiet = new Walk(tooLate).at(0, 500).at(60, 0).timer(660).at(3700, 0).timer(9000);
    expect(quiet.lines).toEqual([]);
    expect(quiet.at(9100, 500).lines).toEqual(["exit 9100"]);
  });
});

describe("any walk", () => {
  const step = fc.record({
    metres: fc.oneof(fc.double({ min: 0, max: 400, noNaN: true }), fc.double({ min: 140, max: 190, noNaN: true })),
    seconds: fc.integer({ min: 1, max: 90 }),
    delay: fc.integer({ min: 0, max: 30 }),
    accuracyM: fc.option(fc.double({ min: 0, max: 200, noNaN: true })),
    source: fc.constantFrom("gps", "gps", "wifi"),
    ticks: fc.boolean(),
  });

  it("enters and exits in turn, never in the band, and dwells at most once a stay", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
        const walk = new Walk({ ...lingering, dwellThresholdSeconds: 100 });
        let clock = 0;
        let first: string | undefined;
        for (const { metres, seconds, delay, accuracyM, source, ticks } of steps) {
          clock += seconds;
          walk.at(clock, metres, { accuracyM, source, nowMs: noon + (clock + delay) * 1000 });
          first ??= walk.state?.side === "unknown" ? undefined : walk.state?.side;
          if (ticks) walk.timer(clock + delay);
        }
        let side = first;
        let hasDwelt = false;
        for (const { kind, distanceM: distance, place, dwellSeconds } of walk.facts) {
          if (kind === "dwell") {
            expect([side, hasDwelt]).toEqual(["inside", false]);
            expect(dwellSeconds).toBeGreaterThanOrEqual(100);
            hasDwelt = true;
            continue;
          }
          expect(side).toBe(kind === "enter" ? "outside" : "inside");
          if (kind === "enter") expect(distance).toBeLessThanOrEqual(home.radiusM);
          else expect(distance).toBeGreaterThan(home.radiusM + bandM(home.radiusM, place.accuracyM));
          expect(place.accuracyM ?? 0).toBeLessThanOrEqual(home.radiusM);
          side = kind === "enter" ? "inside" : "outside";
          hasDwelt = false;
        }
      }),
      { numRuns: 200 },
    );
  });

  it("says the same whether timers run on time or only with the next fix", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: "max" }), (steps) => {
        const [prompt, lazy] = [new Walk(lingering), new Walk(lingering)];
        let clock = 0;
        for (const { metres, seconds, accuracyM, source } of steps) {
          for (let second = clock + 1; second <= clock + seconds; second++) prompt.timer(second);
          clock += seconds;
          prompt.at(clock, metres, { accuracyM, source });
          lazy.at(clock, metres, { accuracyM, source });
        }
        expect(lazy.lines).toEqual(prompt.lines);
        expect(lazy.state).toEqual(prompt.state);
      }),
      { numRuns: 100 },
    );
  });
});
