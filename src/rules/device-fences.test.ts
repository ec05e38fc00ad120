import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { distanceM } from "../lib/geo.ts";
import {
  type DeviceFences,
  evaluateDeviceFix,
  evaluateDeviceTimer,
  nextDeviceDueMs,
  noFences,
} from "./device-fences.ts";
import { evaluateFix, evaluateTimer, type FenceFact, type FenceFix, type FenceState } from "./fence.ts";
import { FenceIndex, type IndexedFence } from "./fence-index.ts";
import { makeScheduleCheck } from "./fence-schedule.ts";

const noon = Date.parse("2026-03-02T12:00:00Z");
const isScheduled = makeScheduleCheck();
const metresPerDegree = distanceM({ lat: 0, lng: 0 }, { lat: 1, lng: 0 });
const centre = { lat: 10, lng: 20 };

const fence = (given: Partial<IndexedFence>): IndexedFence => ({
  id: "home",
  name: "Home",
  scope: "org",
  ...centre,
  radiusM: 200,
  triggerOnEnter: true,
  triggerOnExit: true,
  triggerOnDwell: true,
  dwellThresholdSeconds: 600,
  schedule: null,
  revision: "1",
  sinceVersion: 0,
  changedMs: noon - 1000,
  userId: null,
  ...given,
});

const fixAt = (seconds: number, metres: number, accuracyM: number | null = 10, lateSeconds = 0): FenceFix => ({
  tsMs: noon + (seconds - lateSeconds) * 1000,
  receivedAtMs: noon + seconds * 1000,
  lat: centre.lat + metres / metresPerDegree,
  lng: centre.lng,
  accuracyM,
  source: "gps",
});

const linesOf = (facts: readonly FenceFact[]): string[] =>
  facts.map(({ kind, fence: { id }, tsMs }) => `${(tsMs - noon) / 1000} ${kind} ${id}`).sort();

/** A device of an organization whose rules change. */
class World {
  device: DeviceFences = noFences;
  readonly index = new FenceIndex();
  readonly facts: FenceFact[] = [];

  change(given: Partial<IndexedFence>): this {
    this.index.version++;
    this.index.put(fence({ sinceVersion: this.index.version, ...given }));
    return this;
  }

  at(seconds: number, metres: number, accuracyM?: number | null, lateSeconds?: number): this {
    const fix = fixAt(seconds, metres, accuracyM, lateSeconds);
    const stored = JSON.parse(JSON.stringify(this.device)) as DeviceFences;
    const outcome = evaluateDeviceFix(
      stored,
      this.index.sourceFor("watch", []),
      fix,
      noon + seconds * 1000,
      isScheduled,
    );
    this.device = outcome.device;
    this.facts.push(...outcome.facts);
    return this;
  }

  get lines(): string[] {
    return linesOf(this.facts);
  }
  get states(): string[] {
    return Object.keys(this.device.states).sort();
  }
}

describe("a device and the fences of its organization", () => {
  it("keeps no state of a fence that it is outside of, and still reports its entry", () => {
    const world = new World().change({}).at(0, 50_000);
    expect(world.states).toEqual([]);
    world.at(3600, 0);
    expect(world.lines).toEqual(["3600 enter home"]);
    expect(world.states).toEqual(["home"]);
    world.at(3700, 5000).at(3800, 5000);
    expect(world.lines).toEqual(["3600 enter home", "3700 exit home"]);
    expect(world.states).toEqual([]);
    expect(world.at(7000, 0).lines).toHaveLength(3);
  });

  it("has its first fix after a fence came or changed without an event", () => {
    expect(new World().at(0, 0).change({}).at(10, 0).lines).toEqual([]);
    expect(new World().at(0, 5000).change({}).at(1000, 0).lines).toEqual([]);
    expect(new World().change({}).at(0, 5000).change({ revision: "2" }).at(1000, 0).lines).toEqual([]);
    expect(new World().change({}).at(0, 5000).at(1, 5000).at(1000, 0).lines).toEqual(["1000 enter home"]);
  });

  it("reports the exit from a fence that it left far away in one step", () => {
    expect(new World().change({}).at(0, 0).at(3600, 50_000).lines).toEqual(["3600 exit home"].concat("600 dwell home"));
  });

  it("takes no fix into account that was evaluated before the fence was known", () => {
    const world = new World().change({}).at(0, 5000);
    world.index.put(fence({ sinceVersion: 2, revision: "2" }));
    expect(world.at(1000, 0).lines).toEqual([]);
  });

  it("counts no fix that is less exact than the radius as the first", () => {
    expect(new World().change({}).at(0, 5000, 201).at(1000, 0).lines).toEqual([]);
    expect(new World().change({}).at(0, 5000, 200).at(1000, 0).lines).toEqual(["1000 enter home"]);
    expect(new World().change({}).at(0, 5000, 20).at(500, 5000, 900).at(1000, 0).lines).toEqual(["1000 enter home"]);
  });

  it("does not take a fix in the band for one outside", () => {
    const world = new World().change({}).at(0, 215);
    expect(world.device.states.home?.side).toBe("unknown");
    expect(world.at(1000, 0).lines).toEqual([]);
  });

  it("keeps a bounded number of evaluated fixes, however inexact they become", () => {
    const world = new World().change({ radiusM: 30 }).at(0, 5000, 0);
    for (let n = 1; n < 50; n++) world.change({ id: `other ${n}`, lat: -80 }).at(n * 60, 5000, n * 10);
    expect(world.device.evaluatedFixes).toHaveLength(8);
    expect(world.device.evaluatedFixes[0]?.accuracyM).toBe(0);
    world.at(3600, 0).at(3610, 0);
    expect(world.lines).toEqual(["3600 enter home"]);
    expect(world.device.evaluatedFixes).toEqual([
      { version: 1, accuracyM: 0 },
      { version: 50, accuracyM: 10 },
    ]);
    const { evaluatedFixes } = world.device;
    expect(
      evaluateDeviceFix(world.device, world.index.sourceFor("watch", []), fixAt(4000, 0, 30), noon, isScheduled).device
        .evaluatedFixes,
    ).toBe(evaluatedFixes);
  });

  it("leaves everything as it is for a fix that is late or older than the last", () => {
    const world = new World().change({}).at(0, 5000).at(1000, 5000);
    const { device } = world;
    expect(world.at(1001, 0, 10, 2).device).toEqual(device);
    expect(world.at(3000, 0, 10, 901).device).toEqual(device);
    // The next fresh fix still reports the change.
    expect(world.at(3001, 0).lines).toEqual(["3001 enter home"]);
    expect(new World().change({}).at(0, 5000).at(1900, 0, 10, 900).lines).toEqual(["1000 enter home"]);
    // One of the same time is not older.
    expect(new World().change({}).at(0, 5000).at(1000, 160).at(1000, 161).lines).toEqual(["1000 enter home"]);
  });

  it("forgets a fence that no longer applies", () => {
    const world = new World().change({}).at(0, 0);
    world.index.remove("home");
    expect(nextDeviceDueMs(world.device, world.index.sourceFor("watch", []))).toBeNull();
    expect(world.at(10, 5000).lines).toEqual([]);
    expect(world.states).toEqual([]);
  });
});

describe("the fences of the device itself", () => {
  it("have a state on either side", () => {
    const world = new World().change({ scope: "device" });
    world.index.link("home", "watch", "1");
    expect(world.at(0, 50_000).states).toEqual(["home"]);
    expect(world.at(3600, 0).lines).toEqual(["3600 enter home"]);
    world.index.link("home", "watch", "2");
    expect(world.at(3700, 5000).at(3800, 0).lines).toEqual(["3600 enter home", "3800 enter home"]);
  });
});

describe("the timers of a device", () => {
  it("are due with the first of its fences", () => {
    const world = new World().change({ id: "a", dwellThresholdSeconds: 900 }).change({ id: "b" }).at(0, 0);
    const source = world.index.sourceFor("watch", []);
    expect(nextDeviceDueMs(world.device, source)).toBe(noon + 600_000);
    expect(nextDeviceDueMs(noFences, source)).toBeNull();
  });

  it("leave no state of a confirmed exit, and end with the revision or the fence", () => {
    const world = new World().change({}).at(0, 0).at(100, 230);
    const state = world.device.states.home as FenceState;
    const home = world.index.find("watch", [], "home");
    const outcome = evaluateDeviceTimer(state, home, noon + 160_000, isScheduled);
    expect(linesOf(outcome.facts)).toEqual(["100 exit home"]);
    expect(outcome.state).toBeUndefined();
    expect(evaluateDeviceTimer(state, home, noon + 159_000, isScheduled).state).toBe(state);
    expect(evaluateDeviceTimer(state, undefined, noon + 160_000, isScheduled)).toEqual({ state: undefined, facts: [] });
    const other = { ...fence({}), revision: "2" };
    expect(evaluateDeviceTimer(state, other, noon + 160_000, isScheduled).facts).toEqual([]);
  });
});

describe("any day of any device", () => {
  /** Every fence has a state, whether near or far, and every fix is evaluated against every fence. */
  class Dense {
    readonly fences = new Map<string, IndexedFence>();
    readonly states = new Map<string, FenceState>();
    readonly facts: FenceFact[] = [];
    #last: FenceFix | null = null;

    at(fix: FenceFix, nowMs: number): void {
      if (this.#last && fix.tsMs < this.#last.tsMs) return;
      for (const one of this.fences.values()) {
        const context = { previousFix: this.#last, isKnownOutside: false, nowMs, isScheduled };
        const { state, facts } = evaluateFix(this.states.get(one.id), one, fix, context);
        if (state) this.states.set(one.id, state);
        this.facts.push(...facts);
      }
      this.#last = fix;
    }

    timer(nowMs: number): void {
      for (const [id, state] of this.states) {
        const one = this.fences.get(id);
        if (one?.revision !== state.revision) continue;
        const outcome = evaluateTimer(state, one, nowMs, isScheduled);
        this.states.set(id, outcome.state);
        this.facts.push(...outcome.facts);
      }
    }
  }

  const metres = fc.oneof(fc.integer({ min: 0, max: 900 }), fc.constantFrom(0, 30, 60, 5000, 90_000));
  const action = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant("fix" as const),
        seconds: fc.integer({ min: 1, max: 400 }),
        metres,
        accuracyM: fc.constantFrom(null, 0, 10, 60, 150, 700),
        back: fc.constantFrom(0, 0, 0, 200),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("change" as const),
        id: fc.constantFrom("a", "b", "c"),
        north: fc.constantFrom(0, 100, 600, 5000),
        radiusM: fc.constantFrom(20, 50, 100, 400),
        removes: fc.constantFrom(false, false, true),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("timers" as const), seconds: fc.integer({ min: 1, max: 300 }) }),
    },
  );

  it("has the events that a state of every fence would give", () => {
    let events = 0;
    fc.assert(
      fc.property(fc.array(action, { maxLength: 80, size: "max" }), (actions) => {
        const world = new World();
        const dense = new Dense();
        let clock = 0;
        let revision = 0;
        for (const one of actions) {
          clock++;
          if (one.do === "fix") {
            clock += one.seconds;
            dense.at(fixAt(clock, one.metres, one.accuracyM, one.back), noon + clock * 1000);
            world.at(clock, one.metres, one.accuracyM, one.back);
          } else if (one.do === "timers") {
            clock += one.seconds;
            dense.timer(noon + clock * 1000);
            const states: Record<string, FenceState> = {};
            for (const [id, state] of Object.entries(world.device.states)) {
              const home = world.index.find("watch", [], id);
              const outcome = evaluateDeviceTimer(state, home, noon + clock * 1000, isScheduled);
              world.facts.push(...outcome.facts);
              if (outcome.state) states[id] = outcome.state;
            }
            world.device = { ...world.device, states };
          } else if (one.removes) {
            world.index.version++;
            world.index.remove(one.id);
            dense.fences.delete(one.id);
          } else {
            const shape = { lat: centre.lat + one.north / metresPerDegree, radiusM: one.radiusM };
            const changed = { id: one.id, revision: String(++revision), changedMs: noon + clock * 1000, ...shape };
            world.change(changed);
            dense.fences.set(one.id, fence(changed));
          }
        }
        expect(world.lines).toEqual(linesOf(dense.facts));
        events += world.facts.length;
        for (const state of Object.values(world.device.states)) {
          expect(state.side !== "outside" || state.pending !== null).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
    expect(events).toBeGreaterThan(100);
  });
});
