import { describe, expect, it } from "vitest";
import type { AlertThreshold, Assignment } from "../api/types.ts";
import { describeOrigin } from "../texts/threshold-origin.ts";
import { resultingRules } from "./threshold-origin.ts";

const uid = "490154203237518";
let count = 0;
const threshold = (scope: AlertThreshold["scope"], fields: Partial<AlertThreshold> = {}): AlertThreshold => ({
  id: `rule-${++count}`,
  scope,
  scope_value: ({ Organization: 10, Device: 15, User: 20 } as const)[scope],
  user: scope === "User" ? "ada" : null,
  device: scope === "Device" ? uid : null,
  metric_key: "hr",
  low: 50,
  high: 120,
  severity: "Warning",
  override_mode: "Replace",
  is_active: true,
  min_duration_seconds: 0,
  clear_margin: 0,
  cooldown_seconds: 300,
  created_at: "",
  updated_at: "",
  ...fields,
});
const holds = (user_id: string, role: Assignment["role"] = "assigned") =>
  ({ device_uid: uid, user_id, role, is_active: true }) as Assignment;

const only = (thresholds: AlertThreshold[], assignments = [holds("ada"), holds("bea")]) => {
  const [rule, ...more] = resultingRules(uid, thresholds, assignments);
  expect(more).toEqual([]);
  return rule && { low: rule.low?.value ?? null, high: rule.high?.value ?? null, words: describeOrigin(rule.origin) };
};

describe("the resulting rule of a device, in words", () => {
  it("comes from the organization alone", () => {
    expect(only([threshold("Organization")])).toEqual({ low: 50, high: 120, words: "from the organization" });
  });

  it("is replaced by the user's", () => {
    const rules = [threshold("Organization"), threshold("User", { low: 40, high: null })];
    expect(only(rules)).toEqual({ low: 40, high: null, words: "from the organization, replaced by the user's" });
  });

  it("is taken together with one that merges", () => {
    const rules = [threshold("Organization"), threshold("Device", { low: 55, high: 140, override_mode: "Merge" })];
    expect(only(rules)).toEqual({ low: 55, high: 120, words: "from the organization, together with the device's" });
  });

  it("names every level on the way", () => {
    const rules = [
      threshold("Organization"),
      threshold("Device", { low: 45, high: null }),
      threshold("User", { low: null, high: 130, override_mode: "Merge" }),
    ];
    expect(only(rules)?.words).toBe("from the organization, replaced by the device's, together with the user's");
  });

  it("is switched off only when all users of the device say so", () => {
    const off = threshold("User", { override_mode: "Disable" });
    const rules = [threshold("Organization"), off];
    expect(only(rules)).toEqual({ low: null, high: null, words: "from the organization, switched off by the user's" });
    const other = threshold("User", { user: "bea", low: 48, high: null, override_mode: "Merge" });
    expect(only([...rules, other])?.words).toBe("from the organization, together with the user's");
  });

  it("leaves out rules of other devices, of viewers and such that are inactive", () => {
    const rules = [
      threshold("Device", { device: "490154203237526" }),
      threshold("User"),
      threshold("Organization", { is_active: false }),
    ];
    expect(only(rules, [holds("ada", "viewer")])).toBeUndefined();
  });
});
