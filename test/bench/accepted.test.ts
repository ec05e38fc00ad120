import { describe, expect, it } from "vitest";
import { acceptedOf, fallen, missing, rowName } from "./accepted.ts";
import type { Row } from "./report.ts";

const row = (what: string, unit: string, ratios: number[]): Row => ({ what, unit, ratios, ours: 0, bare: 0 });
const fixes = (ratios: number[]): Row => row("gt06, 1 in a frame, 1000 connections", "fixes/s", ratios);
const times = (ratios: number[], rate = 5000): Row => row(`p99 of the answer at ${rate} packets/s`, "ms", ratios);

describe("ratios beside those of the accepted run", () => {
  it("reports a rate that fell and a time that grew", () => {
    const accepted = { ingest: acceptedOf([fixes([0.4, 0.41, 0.42]), times([2, 2.1, 2.2])]) };
    const found = fallen("ingest", [fixes([0.3, 0.31, 0.32]), times([3, 3.1, 3.2], 4000)], accepted);
    expect(found).toHaveLength(2);
    expect(found[0]).toContain("gt06");
    expect(found[1]).toContain("p99 of the answer at half load");
  });

  it("reports no rate that rose and no time that became shorter", () => {
    const accepted = { ingest: acceptedOf([fixes([0.4, 0.41, 0.42]), times([2, 2.1, 2.2])]) };
    expect(fallen("ingest", [fixes([0.6, 0.61, 0.62]), times([1, 1.1, 1.2])], accepted)).toEqual([]);
  });

  it("reports nothing where the intervals touch, or one round has none", () => {
    const accepted = { ingest: acceptedOf([fixes([0.4, 0.41, 0.42])]) };
    expect(fallen("ingest", [fixes([0.3, 0.35, 0.42])], accepted)).toEqual([]);
    expect(fallen("ingest", [fixes([0.1])], accepted)).toEqual([]);
    expect(fallen("http", [fixes([0.1, 0.1])], accepted)).toEqual([]);
  });

  it("names accepted rows that are no longer measured", () => {
    const accepted = { ingest: acceptedOf([fixes([0.4, 0.4]), times([2, 2])]) };
    expect(missing("ingest", [times([2, 2], 4000)], accepted)).toEqual(["gt06, 1 in a frame, 1000 connections"]);
  });

  it("knows a row whose rate or size differs from run to run", () => {
    expect(rowName("p99 of the answer at 4321 packets/s, 1000 connections")).toBe(
      "p99 of the answer at half load, 1000 connections",
    );
    expect(rowName("a list (13824 bytes)")).toBe("a list");
  });
});
