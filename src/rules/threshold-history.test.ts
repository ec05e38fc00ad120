import { describe, expect, it } from "vitest";
import type { ThresholdRule, ThresholdState } from "./threshold.ts";
import {
  type CurrentThresholds,
  type PastChange,
  pastBounds,
  targetOf,
  withoutInterrupted,
} from "./threshold-history.ts";

const rule = (id: string, fields: Partial<ThresholdRule> = {}): ThresholdRule => ({
  id,
  scope: 10,
  userId: null,
  deviceId: null,
  metricKey: "hr",
  low: null,
  high: 120,
  severity: 20,
  overrideMode: 10,
  minDurationSeconds: 0,
  clearMargin: 0,
  cooldownSeconds: 0,
  revision: 1,
  ...fields,
});
const organizationRule = rule("all");
const disable = rule("disable", { scope: 15, deviceId: "watch", overrideMode: 30 });
const userRule = rule("user", { scope: 20, userId: "anna", high: 100 });

const current = (rules: readonly ThresholdRule[], holders: readonly string[] = []): CurrentThresholds => ({
  organizationId: "org",
  rulesOf: (target) => rules.filter((one) => targetOf(one, "org") === target),
  holdersOf: () => holders,
});
const highs = (now: CurrentThresholds, changes: readonly PastChange[]) =>
  [...pastBounds(now, "watch", "hr", changes)].map(({ high }) => high && `${high.id}/${high.revision}`);

describe("the bounds of the past", () => {
  it("undo changes of rules one by one, the newest first", () => {
    const changes: PastChange[] = [
      { kind: "threshold", version: 9, id: "all", before: rule("all", { revision: 7 }) },
      { kind: "threshold", version: 8, id: "disable", before: disable },
      { kind: "threshold", version: 7, id: "disable", before: null },
    ];
    expect(highs(current([organizationRule]), changes)).toEqual(["all/7", null, "all/7"]);
  });

  it("undo who held the device, and leave other devices and metrics out", () => {
    const changes: PastChange[] = [
      { kind: "device", version: 5, id: "watch", before: { userId: "anna", isHolder: true } },
      { kind: "device", version: 4, id: "watch", before: { userId: "anna", isHolder: false } },
      { kind: "device", version: 3, id: "another", before: { userId: "anna", isHolder: true } },
      { kind: "device", version: 2, id: "watch", before: null },
      { kind: "threshold", version: 1, id: "temp", before: rule("temp", { metricKey: "temp", high: 38 }) },
    ];
    const now = current([organizationRule, userRule]);
    expect(highs(now, changes)).toEqual(["user/1", "all/1", "all/1", "all/1", "all/1"]);
  });

  it("take changes of one version together", () => {
    const changes: PastChange[] = [
      { kind: "threshold", version: 6, id: "disable", before: disable },
      { kind: "threshold", version: 6, id: "user", before: userRule },
      { kind: "threshold", version: 5, id: "disable", before: null },
    ];
    expect(highs(current([organizationRule], ["anna"]), changes)).toEqual(["user/1", "user/1"]);
  });
});

describe("a breach", () => {
  const breach = { ruleId: "all", revision: 1, sinceMs: 0, value: 130, eventId: "e" };
  const state: ThresholdState = { low: null, high: breach, lastEventMs: { all: 5 } };

  it("goes on while its rule counted all the time, as the same object", () => {
    expect(withoutInterrupted(state, [{ low: userRule, high: organizationRule }])).toBe(state);
  });

  it("ends when another rule or none counted for a moment; the cooldown stays", () => {
    for (const high of [null, userRule, rule("all", { revision: 2 })]) {
      const past = [
        { low: null, high: organizationRule },
        { low: null, high },
        { low: null, high: organizationRule },
      ];
      expect(withoutInterrupted(state, past)).toEqual({ low: null, high: null, lastEventMs: { all: 5 } });
    }
    const held = { ...state, high: { ...breach, eventId: null }, lastEventMs: {} };
    expect(withoutInterrupted(held, [{ low: null, high: null }])).toBeUndefined();
  });
});
