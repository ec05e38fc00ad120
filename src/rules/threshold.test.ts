import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  effectiveBounds,
  evaluateReading,
  evaluateTimer,
  nextDueMs,
  type ThresholdFact,
  type ThresholdRule,
  type ThresholdState,
} from "./threshold.ts";

const noon = Date.parse("2026-03-02T12:00:00Z");
const [organization, device, user] = [10, 15, 20] as const;
const [replace, merge, disable] = [10, 20, 30] as const;

const rule = (given: Partial<ThresholdRule>): ThresholdRule => ({
  id: "rule",
  scope: device,
  userId: null,
  deviceId: "device",
  metricKey: "hr",
  low: null,
  high: null,
  severity: 20,
  overrideMode: replace,
  minDurationSeconds: 0,
  clearMargin: 0,
  cooldownSeconds: 0,
  revision: 1,
  ...given,
});

const organizationRules = (given: Partial<ThresholdRule>) => rule({ id: "org", scope: organization, ...given });
const userRule = (userId: string, given: Partial<ThresholdRule>) => rule({ id: userId, scope: user, userId, ...given });

/** Bounds with the ids of their rules. */
function bounds(...rules: ThresholdRule[]): Record<string, string | null> {
  const { low, high } = effectiveBounds(rules);
  return { low: low && `${low.low} ${low.id}`, high: high && `${high.high} ${high.id}` };
}

/** A device that tells values. Seconds count from noon. */
class Series {
  state: ThresholdState | undefined;
  rules: ThresholdRule[];
  readonly facts: ThresholdFact[] = [];
  #ids = 0;

  constructor(...rules: ThresholdRule[]) {
    this.rules = rules;
  }

  at(seconds: number, value: number): this {
    const nowMs = noon + seconds * 1000;
    const reading = { value, tsMs: nowMs, nowMs };
    return this.#take(evaluateReading(this.#stored(), effectiveBounds(this.rules), reading, this.#newId));
  }

  timer(seconds: number): this {
    return this.#take(evaluateTimer(this.#stored(), effectiveBounds(this.rules), noon + seconds * 1000, this.#newId));
  }

  get dueSeconds(): number | null {
    const dueMs = this.state === undefined ? null : nextDueMs(this.state, effectiveBounds(this.rules));
    return dueMs === null ? null : (dueMs - noon) / 1000;
  }

  get lines(): string[] {
    return this.facts.map(
      ({ kind, rule: { id }, bound, value, tsMs }) => `${(tsMs - noon) / 1000} ${id} ${bound} ${kind} ${value}`,
    );
  }

  readonly #newId = (): string => `event ${++this.#ids}`;
  #stored(): ThresholdState | undefined {
    return this.state && JSON.parse(JSON.stringify(this.state));
  }
  #take({ state, facts }: { state: ThresholdState | undefined; facts: ThresholdFact[] }): this {
    this.state = state;
    this.facts.push(...facts);
    return this;
  }
}

describe("the bounds that count", () => {
  const org = organizationRules({ low: 40, high: 130 });

  it("are those of the most specific rule that replaces", () => {
    expect(bounds(org)).toEqual({ low: "40 org", high: "130 org" });
    expect(bounds(org, rule({ high: 120 }))).toEqual({ low: null, high: "120 rule" });
    expect(bounds(org, rule({ high: 120 }), userRule("ann", { low: 50 }))).toEqual({ low: "50 ann", high: null });
  });

  it("go on to the next level with Merge: highest low, lowest high", () => {
    expect(bounds(org, rule({ high: 120, overrideMode: merge }))).toEqual({ low: "40 org", high: "120 rule" });
    expect(bounds(org, rule({ low: 30, high: 140, overrideMode: merge }))).toEqual({ low: "40 org", high: "130 org" });
    const chain = [rule({ low: 45, overrideMode: merge }), userRule("ann", { high: 125, overrideMode: merge })];
    expect(bounds(org, ...chain)).toEqual({ low: "45 rule", high: "125 ann" });
  });

  it("stop with Disable, after what was collected before it", () => {
    expect(bounds(org, rule({ low: 1, overrideMode: disable }))).toEqual({ low: null, high: null });
    const over = userRule("ann", { high: 125, overrideMode: merge });
    expect(bounds(org, rule({ low: 1, overrideMode: disable }), over)).toEqual({ low: null, high: "125 ann" });
  });

  it("belong to the more specific rule when two are equal", () => {
    expect(bounds(org, rule({ low: 40, high: 130, overrideMode: merge }))).toEqual({
      low: "40 rule",
      high: "130 rule",
    });
  });

  it("take the rules of several users together", () => {
    const merging = userRule("ann", { low: 50, overrideMode: merge });
    const disabling = userRule("bob", { low: 1, overrideMode: disable });
    const replacing = userRule("eve", { low: 55, high: 110 });
    expect(bounds(org, disabling)).toEqual({ low: null, high: null });
    expect(bounds(org, disabling, { ...disabling, id: "cid", userId: "cid" })).toEqual({ low: null, high: null });
    expect(bounds(org, merging, disabling)).toEqual({ low: "50 ann", high: "130 org" });
    expect(bounds(org, merging, replacing)).toEqual({ low: "55 eve", high: "110 eve" });
    expect(bounds(org, disabling, replacing)).toEqual({ low: "55 eve", high: "110 eve" });
  });

  it("are none without rules", () => {
    expect(bounds()).toEqual({ low: null, high: null });
  });
});

describe("a threshold", () => {
  it("makes one event per breach and one when it clears", () => {
    const series = new Series(rule({ low: 45, high: 120 })).at(0, 80).at(1, 130).at(2, 140).at(3, 100).at(4, 40);
    expect(series.lines).toEqual(["1 rule high breach 130", "3 rule high cleared 100", "4 rule low breach 40"]);
    expect(series.facts.map(({ eventId, breachEventId }) => [eventId, breachEventId])).toEqual([
      ["event 1", null],
      ["event 2", "event 1"],
      ["event 3", null],
    ]);
  });

  it("is not broken by the bounds themselves", () => {
    expect(new Series(rule({ low: 45, high: 120 })).at(0, 45).at(1, 120).state).toBeUndefined();
  });

  it("clears by its margin", () => {
    const series = new Series(rule({ low: 45, high: 120, clearMargin: 5 })).at(0, 121).at(1, 116).at(2, 125).at(3, 115);
    expect(series.lines).toEqual(["0 rule high breach 121", "3 rule high cleared 115"]);
    expect(series.at(4, 44).at(5, 49).at(6, 50).lines.slice(2)).toEqual([
      "4 rule low breach 44",
      "6 rule low cleared 50",
    ]);
  });

  it("waits for its duration, by timer, with the last value and the time of the timer", () => {
    const series = new Series(rule({ high: 120, minDurationSeconds: 60 })).at(0, 130).at(30, 140);
    expect(series.dueSeconds).toBe(60);
    expect(series.timer(59).lines).toEqual([]);
    expect(series.timer(61).lines).toEqual(["60 rule high breach 140"]);
    expect(series.dueSeconds).toBeNull();
    expect(series.at(70, 150).timer(500).lines).toHaveLength(1);
  });

  it("forgets a breach that a value inside ends before its duration, whatever the margin", () => {
    const series = new Series(rule({ high: 120, minDurationSeconds: 60, clearMargin: 10 })).at(0, 130).at(30, 119);
    expect(series.state).toBeUndefined();
    expect(series.at(40, 130).timer(99).lines).toEqual([]);
    expect(series.timer(100).lines).toEqual(["100 rule high breach 130"]);
  });

  it("holds back a second event within the cooldown, and its clearing with it", () => {
    const series = new Series(rule({ high: 120, cooldownSeconds: 300 })).at(0, 130).at(10, 100).at(20, 140).at(30, 100);
    expect(series.lines).toEqual(["0 rule high breach 130", "10 rule high cleared 100"]);
    expect(series.at(299, 150).at(299.5, 100).timer(400).lines).toHaveLength(2);
    expect(series.at(401, 150).lines.at(-1)).toBe("401 rule high breach 150");
  });

  it("makes the event when the cooldown ends and the value is still outside", () => {
    const series = new Series(rule({ high: 120, cooldownSeconds: 300 })).at(0, 130).at(10, 100).at(20, 140).at(25, 145);
    expect(series.dueSeconds).toBe(300);
    expect(series.timer(300).lines.at(-1)).toBe("300 rule high breach 145");
    expect(series.at(310, 90).lines.at(-1)).toBe("310 rule high cleared 90");
    expect(series.facts.at(-1)?.breachEventId).toBe("event 3");
    // Counts from the last event, which is that of the timer.
    expect(series.at(400, 140).dueSeconds).toBe(600);
  });

  it("makes an event at the moment the cooldown ends", () => {
    const series = new Series(rule({ high: 120, cooldownSeconds: 300 })).at(0, 130).at(10, 100).at(300, 130);
    expect(series.lines.at(-1)).toBe("300 rule high breach 130");
  });

  it("has both the duration and the cooldown to wait for", () => {
    const series = new Series(rule({ high: 120, cooldownSeconds: 300, minDurationSeconds: 60 }));
    expect(series.at(0, 130).timer(60).at(70, 100).at(290, 130).dueSeconds).toBe(360);
    expect(series.at(340, 100).at(350, 130).dueSeconds).toBe(410);
  });

  it("cools down for a whole day", () => {
    const series = new Series(rule({ high: 120, cooldownSeconds: 86_400 })).at(0, 130).at(10, 100).at(20, 130);
    expect(series.timer(86_399).lines).toHaveLength(2);
    expect(series.timer(200_000).lines.at(-1)).toBe("86400 rule high breach 130");
    expect(series.at(200_001, 100).at(300_000, 100).state).toBeUndefined();
  });

  it("is not cleared by a value beyond the other bound", () => {
    const series = new Series(rule({ low: 45, high: 120, cooldownSeconds: 300 })).at(0, 40).at(10, 130);
    expect(series.lines).toEqual(["0 rule low breach 40"]);
    expect(series.at(20, 100).lines).toEqual(["0 rule low breach 40", "20 rule low cleared 100"]);
    const open = new Series(rule({ low: 45, high: 120, cooldownSeconds: 300 })).at(0, 40).at(10, 130).timer(300);
    expect(open.lines).toEqual(["0 rule low breach 40", "300 rule high breach 130"]);
  });

  it("takes margin, duration and cooldown of the rule whose bound is broken", () => {
    const own = rule({ high: 120, overrideMode: merge, minDurationSeconds: 60 });
    const series = new Series(own, organizationRules({ low: 40, clearMargin: 5 }))
      .at(0, 39)
      .at(1, 44)
      .at(2, 130)
      .timer(62);
    expect(series.lines).toEqual(["0 org low breach 39", "62 rule high breach 130"]);
    expect(series.at(70, 120).lines.slice(2)).toEqual(["70 org low cleared 120", "70 rule high cleared 120"]);
  });
});

describe("a breach whose rule changes", () => {
  const narrow = rule({ high: 120, cooldownSeconds: 300 });

  it("ends without an event", () => {
    for (const rules of [[], [{ ...narrow, revision: 2, high: 200 }], [userRule("ann", { high: 200 }), narrow]]) {
      const series = new Series(narrow).at(0, 130);
      series.rules = rules;
      expect(series.at(10, 100).at(20, 130).lines).toEqual(["0 rule high breach 130"]);
      expect(series.state).toMatchObject({ low: null, high: null });
    }
  });

  it("ends also while it waits", () => {
    const series = new Series(rule({ high: 120, minDurationSeconds: 60 })).at(0, 130);
    series.rules = [rule({ high: 120, minDurationSeconds: 90, revision: 2 })];
    expect(series.dueSeconds).toBeNull();
    expect(series.timer(100).lines).toEqual([]);
    expect(series.state).toBeUndefined();
  });

  it("may begin again with the rule as it is now, after the cooldown that the last event began", () => {
    const series = new Series(narrow).at(0, 130);
    series.rules = [{ ...narrow, revision: 2, high: 110 }];
    expect(series.at(10, 130).lines).toEqual(["0 rule high breach 130"]);
    expect(series.timer(300).lines.at(-1)).toBe("300 rule high breach 130");
  });

  it("does not hold back another rule", () => {
    const series = new Series(narrow).at(0, 130);
    series.rules = [userRule("ann", { high: 100 }), narrow];
    expect(series.at(10, 130).lines.at(-1)).toBe("10 ann high breach 130");
  });
});

/**
 * The words of section 11 once more, second by second and with all of the past at hand: no state is carried along, each question
 * is answered from the list of values and events.
 */
function model(the: ThresholdRule, values: ReadonlyMap<number, number>, lastSecond: number): string[] {
  const events: { second: number; kind: string; bound: "low" | "high"; value: number }[] = [];
  const beyond = (bound: "low" | "high", value: number) =>
    bound === "low" ? the.low !== null && value < the.low : the.high !== null && value > the.high;
  const isBack = (bound: "low" | "high", value: number) =>
    !beyond("low", value) &&
    !beyond("high", value) &&
    (bound === "low" ? value >= (the.low ?? 0) + the.clearMargin : value <= (the.high ?? 0) - the.clearMargin);
  const valuesUntil = (second: number) => [...values].filter(([at]) => at <= second).sort(([a], [b]) => b - a);
  const isOpen = (bound: string) => events.findLast((event) => event.bound === bound)?.kind === "breach";
  const breachIfDue = (second: number, known: [number, number][]) => {
    for (const bound of ["low", "high"] as const) {
      const inside = known.findIndex(([, value]) => !beyond(bound, value));
      const run = inside < 0 ? known : known.slice(0, inside);
      const [first, newest] = [run.at(-1), run[0]];
      if (isOpen(bound) || !first || !newest || second - first[0] < the.minDurationSeconds) continue;
      const last = events.findLast(({ kind }) => kind === "breach");
      if (last && second - last.second < the.cooldownSeconds) continue;
      events.push({ second, kind: "breach", bound, value: newest[1] });
    }
  };
  for (let second = 0; second <= lastSecond; second++) {
    breachIfDue(second, valuesUntil(second - 1));
    const value = values.get(second);
    if (value === undefined) continue;
    for (const bound of ["low", "high"] as const) {
      if (isOpen(bound) && isBack(bound, value)) events.push({ second, kind: "cleared", bound, value });
    }
    breachIfDue(second, valuesUntil(second));
  }
  return events.map(({ second, kind, bound, value }) => `${second} rule ${bound} ${kind} ${value}`);
}

describe("any series of values", () => {
  const anyRule = fc.record({
    low: fc.option(fc.constantFrom(40, 50)),
    high: fc.constantFrom(60, 70),
    clearMargin: fc.constantFrom(0, 3, 15),
    minDurationSeconds: fc.constantFrom(0, 0, 5, 20),
    cooldownSeconds: fc.constantFrom(0, 0, 10, 60),
  });
  const steps = fc.array(
    fc.record({ wait: fc.integer({ min: 1, max: 15 }), value: fc.integer({ min: 30, max: 80 }) }),
    {
      maxLength: 40,
      size: "max",
    },
  );

  it("has the events of the slow model, with timers on time or only with the next value", () => {
    fc.assert(
      fc.property(anyRule, steps, (fields, waits) => {
        const the = rule(fields);
        const values = new Map<number, number>();
        let clock = 0;
        for (const { wait, value } of waits) {
          clock += wait;
          values.set(clock, value);
        }
        const [prompt, lazy] = [new Series(the), new Series(the)];
        for (let second = 0; second <= clock + 100; second++) {
          prompt.timer(second);
          const value = values.get(second);
          if (value === undefined) continue;
          prompt.at(second, value);
          lazy.at(second, value);
        }
        lazy.timer(clock + 100);
        const expected = model(the, values, clock + 100);
        expect(prompt.lines).toEqual(expected);
        expect(lazy.lines).toEqual(expected);
      }),
      { numRuns: 150 },
    );
  });

  it("has bounds that no rule of theirs would loosen", () => {
    const mode = fc.constantFrom(replace, merge, disable);
    const anyBound = fc.option(fc.integer({ min: 0, max: 9 }));
    const any = (scope: 10 | 15 | 20, id: string) =>
      fc.record({ low: anyBound, high: anyBound, overrideMode: mode }).map((given) => rule({ id, scope, ...given }));
    const rules = fc.tuple(
      fc
        .array(fc.constantFrom("a", "b", "c"), { maxLength: 3 })
        .chain((ids) => fc.tuple(...[...new Set(ids)].map((id) => any(user, id)))),
      fc.option(any(device, "d")),
      fc.option(any(organization, "o")),
    );
    fc.assert(
      fc.property(rules, ([users, own, org]) => {
        // From the least specific level up: what a level hands down is all that counts above it.
        const tightest = (given: (ThresholdRule | null)[], key: "low" | "high") => {
          const all = given.flatMap((one) => (one?.[key] == null ? [] : [one[key]]));
          return all.length === 0 ? null : key === "low" ? Math.max(...all) : Math.min(...all);
        };
        const speaking = (level: ThresholdRule[], below: ThresholdRule[]): ThresholdRule[] => {
          if (level.length === 0) return below;
          if (level.every(({ overrideMode }) => overrideMode === disable)) return [];
          const counted = level.filter(({ overrideMode }) => overrideMode !== disable);
          return level.some(({ overrideMode }) => overrideMode === replace) ? counted : [...counted, ...below];
        };
        const counting = speaking(users, speaking(own ? [own] : [], speaking(org ? [org] : [], [])));
        const { low, high } = effectiveBounds([...users, ...(own ? [own] : []), ...(org ? [org] : [])]);
        expect([low?.low ?? null, high?.high ?? null]).toEqual([tightest(counting, "low"), tightest(counting, "high")]);
        for (const owner of [low, high]) if (owner) expect(counting).toContain(owner);
      }),
      { numRuns: 300 },
    );
  });
});
