import { describe, expect, it } from "vitest";
import { maxLineMs, seriesOf, summaryOf, valueAt, withLive } from "./device-series.ts";

const minuteMs = 60_000;
const at = (minute: number, data: Record<string, unknown>) => ({ tsMs: minute * minuteMs, data });

describe("readings for a chart", () => {
  it("come in time order, each time once, without what is no reading", () => {
    const series = seriesOf(
      [at(10, { hr: 72 }), at(0, { hr: 70 }), at(10, { hr: 73 }), at(5, { hr: null, bat: 80 })],
      ["hr"],
    );
    expect(series).toEqual({ timesMs: [0, 10 * minuteMs], values: [[70, 72]] });
  });

  it("have a gap where the device was silent for long", () => {
    const rows = [0, 10, 20, 30, 300, 310].map((minute) => at(minute, { hr: 60 + minute }));
    const { timesMs, values } = seriesOf(rows, ["hr"]);
    expect(values[0]).toEqual([60, 70, 80, 90, null, 360, 370]);
    expect(timesMs[4]).toBe(30 * minuteMs + 1);
  });

  it("allow a few missed reports before the line breaks", () => {
    expect(maxLineMs([0, 60, 120, 180].map((minute) => minute * minuteMs))).toBe(210 * minuteMs);
    expect(maxLineMs([0, 1, 2].map((minute) => minute * minuteMs))).toBe(15 * minuteMs);
    expect(maxLineMs([])).toBe(15 * minuteMs);
  });

  it("keep two metrics of one chart side by side", () => {
    const series = seriesOf([at(0, { sbp: 120, dbp: 80 }), at(5, { sbp: 125 })], ["sbp", "dbp"]);
    expect(series.values).toEqual([
      [120, 125],
      [80, null],
    ]);
  });
});

describe("a summary", () => {
  it("tells the latest, lowest and highest value of what is shown", () => {
    const series = seriesOf([at(0, { hr: 50 }), at(5, { hr: 90 }), at(10, { hr: 70 })], ["hr"]);
    expect(summaryOf(series, 0, 2 * minuteMs, 20 * minuteMs)).toEqual({
      latest: 70,
      latestMs: 10 * minuteMs,
      low: 70,
      high: 90,
      count: 2,
    });
    expect(summaryOf(series, 0, 60 * minuteMs, 90 * minuteMs)).toBeUndefined();
  });
});

describe("the value at a time", () => {
  const series = seriesOf(
    [at(0, { sbp: 120, dbp: 80 }), at(5, { sbp: 125 }), at(200, { sbp: 130, dbp: 85 })],
    ["sbp", "dbp"],
  );
  it("is the last one before it, of each metric", () => {
    expect([valueAt(series, 0, 6 * minuteMs), valueAt(series, 1, 6 * minuteMs)]).toEqual([125, 80]);
  });
  it("is unknown before the first reading and within a gap", () => {
    expect(valueAt(series, 0, -1)).toBeUndefined();
    expect(valueAt(series, 0, 100 * minuteMs)).toBeUndefined();
  });
});

describe("live values", () => {
  it("are added once they are newer than what was loaded", () => {
    const loaded = [at(0, { hr: 70 })];
    const ts = new Date(5 * minuteMs).toISOString();
    expect(withLive(loaded, { hr: { value: 75, ts }, bat: { value: 80, ts } })).toEqual([
      ...loaded,
      at(5, { hr: 75, bat: 80 }),
    ]);
    expect(withLive(loaded, { hr: { value: 70, ts: new Date(0).toISOString() }, bat: { value: 1, ts: null } })).toBe(
      loaded,
    );
  });
});
