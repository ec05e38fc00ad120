import { describe, expect, it } from "vitest";
import { testCatalog } from "../../../test/support/catalog.ts";
import { metricKeys } from "../../codecs/metric-keys.ts";
import { inRange, metrics } from "./metric-catalog.ts";

describe("the metrics", () => {
  it("are those of the catalog, with its units and ranges", () => {
    const catalog = testCatalog();
    const shown = metricKeys.map((key) => {
      const capability = catalog.findCapability(key);
      if (capability?.kind !== "telemetry") throw new Error(`${key} is no telemetry capability`);
      const { unit, min, max, loinc } = capability;
      return [key, { unit, min, max, loinc }];
    });
    expect(Object.fromEntries(shown)).toEqual(metrics);
  });

  it("count at both ends of their range and not beyond", () => {
    for (const [key, { min, max }] of Object.entries(metrics)) {
      expect([min, max].map((value) => inRange(key, value))).toEqual([true, true]);
      expect([min - 0.1, max + 0.1].map((value) => inRange(key, value))).toEqual([false, false]);
    }
  });

  it.each([
    ["hr", null],
    ["hr", "72"],
    ["hr", Number.NaN],
    ["hr", true],
    ["roll", 1],
    ["toString", 1],
    ["__proto__", 1],
  ])("do not take %s %s for a reading", (key, value) => {
    expect(inRange(key, value)).toBe(false);
  });
});
