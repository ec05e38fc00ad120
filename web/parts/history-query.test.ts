import { describe, expect, it } from "vitest";
import { type HistoryFilter, historyPath, meantDevices } from "./history-query.ts";

const none: HistoryFilter = { severity: "", state: "", kind: "", from: "", until: "", search: "" };

describe("the history of alarms", () => {
  it("asks for days of the reader, the last one whole", () => {
    const path = historyPath({ ...none, from: "2026-03-01", until: "2026-03-02" }, undefined, "Europe/Rome");
    const query = new URL(path, "http://x").searchParams;
    expect(query.get("ts_after")).toBe("2026-02-28T23:00:00.000Z");
    expect(query.get("ts_before")).toBe("2026-03-02T23:00:00.000Z");
  });

  it("asks for kind, severity, state and device", () => {
    const path = historyPath({ ...none, severity: "critical", state: "open", kind: "sos" }, "490154203237518", "UTC");
    expect(Object.fromEntries(new URL(path, "http://x").searchParams)).toEqual({
      page_size: "50",
      ordering: "-ts",
      severity: "critical",
      acknowledged: "false",
      event_type: "sos",
      device_uid: "490154203237518",
    });
  });

  it("means the one device that was found, and one by its whole name before those that contain it", () => {
    const found = (...names: string[]) => ({
      count: names.length,
      results: names.map((name) => ({ uid: name, name })),
    });
    expect(meantDevices(found("Watch 1"), "ada")).toEqual({ count: 1, uid: "Watch 1" });
    expect(meantDevices(found("Watch 10", "Watch 1"), " watch 1")).toEqual({ count: 1, uid: "Watch 1" });
    expect(meantDevices(found("Watch 10", "Watch 1"), "watch")).toEqual({ count: 2, uid: undefined });
    expect(meantDevices(found(), "nobody")).toEqual({ count: 0, uid: undefined });
  });
});
