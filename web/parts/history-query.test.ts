import { describe, expect, it } from "vitest";
import type { FleetDevice } from "../api/types.ts";
import { type HistoryFilter, historyPath, wantedDevices } from "./history-query.ts";

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

  it("finds the device of a person, and one by its whole name before those that contain it", () => {
    const device = (uid: string, name: string, people: string[] = []) =>
      [uid, { uid, name, tags: [], device_model_name: "", people } as unknown as FleetDevice] as const;
    const known = new Map([device("1", "Watch 1", ["Ada"]), device("10", "Watch 10"), device("2", "Other")]);
    const uids = (search: string) => wantedDevices(known, search)?.map(({ uid }) => uid);
    expect([uids(""), uids("ada"), uids("watch 1"), uids("watch")]).toEqual([undefined, ["1"], ["1"], ["1", "10"]]);
  });
});
