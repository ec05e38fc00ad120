import { describe, expect, it } from "vitest";
import type { Event, FleetDevice } from "../api/types.ts";
import { mergeAlarms, withChange } from "./live-merge.ts";

const alarm = (id: string, fields: Partial<Event> = {}): Event =>
  ({ id, severity: "warning", acknowledged: false, ts: "2026-05-01T12:00:00.000Z", ...fields }) as Event;

describe("the queue of open alarms", () => {
  it("holds what was raised while it was read, and not what was acknowledged meanwhile", () => {
    const rows = [alarm("a"), alarm("b")];
    expect(mergeAlarms(rows, [alarm("b"), alarm("c")], new Set(["a"])).map(({ id }) => id)).toEqual(["b", "c"]);
  });

  it("has critical ones first and of each kind the oldest, and no information", () => {
    const rows = [
      alarm("new", { ts: "2026-05-01T12:05:00.000Z" }),
      alarm("old"),
      alarm("fall", { severity: "critical", ts: "2026-05-01T12:09:00.000Z" }),
      alarm("online", { severity: "info" }),
    ];
    expect(mergeAlarms(rows, [], new Set()).map(({ id }) => id)).toEqual(["fall", "old", "new"]);
  });
});

describe("a device", () => {
  const device = { uid: "1", is_online: true, last_seen_at: "2026-05-01T12:00:00.000Z" } as FleetDevice;

  it("follows the stream", () => {
    const change = { uid: "1", is_online: false, last_seen_at: device.last_seen_at };
    expect(withChange(device, change)).toMatchObject({ is_online: false });
  });

  it("is not set back by a change that is older than what was read", () => {
    const change = { uid: "1", is_online: false, last_seen_at: "2026-05-01T11:59:00.000Z" };
    expect(withChange(device, change)).toBe(device);
  });
});
