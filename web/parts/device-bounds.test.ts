import { describe, expect, it } from "vitest";
import type { AlertThreshold, Assignment } from "../api/types.ts";
import { beyond, boundsOf } from "./device-bounds.ts";

const uid = "490154203237518";
const threshold = (fields: Partial<AlertThreshold>): AlertThreshold => ({
  id: "t",
  scope: "Organization",
  scope_value: 10,
  user: null,
  device: null,
  metric_key: "hr",
  low: null,
  high: null,
  severity: "Warning",
  override_mode: "Replace",
  is_active: true,
  min_duration_seconds: 0,
  clear_margin: 0,
  cooldown_seconds: 300,
  created_at: "2026-03-01T00:00:00.000Z",
  updated_at: "2026-03-01T00:00:00.000Z",
  ...fields,
});
const ofUser = (high: number): AlertThreshold =>
  threshold({ id: "u", scope: "User", scope_value: 20, user: "anna", high });
const holds = (role: "owner" | "viewer"): Assignment =>
  ({ device_uid: uid, user_id: "anna", role, is_active: true }) as Assignment;

describe("the bounds of a device", () => {
  it("are those of the organization unless its person has others", () => {
    const rows = [threshold({ low: 45, high: 120 }), ofUser(95)];
    expect(boundsOf(uid, rows, []).get("hr")).toEqual({ low: 45, high: 120 });
    expect(boundsOf(uid, rows, [holds("viewer")]).get("hr")).toEqual({ low: 45, high: 120 });
    expect(boundsOf(uid, rows, [holds("owner")]).get("hr")).toEqual({ low: null, high: 95 });
  });

  it("leave out what is switched off or meant for another device", () => {
    const other = threshold({ scope: "Device", scope_value: 15, device: "490154203000000", high: 80 });
    expect(boundsOf(uid, [other, threshold({ is_active: false, low: 40 })], []).size).toBe(0);
  });
});

describe("a value out of range", () => {
  it("is below or above; a value on the bound is within", () => {
    const bounds = { low: 45, high: 120 };
    expect([44, 45, 120, 121].map((value) => beyond(value, bounds))).toEqual(["low", undefined, undefined, "high"]);
    expect(beyond(10, undefined)).toBeUndefined();
    expect(beyond(10, { low: null, high: null })).toBeUndefined();
  });
});
