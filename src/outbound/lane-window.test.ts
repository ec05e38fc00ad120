import { describe, expect, it } from "vitest";
import { laneIdAt } from "../outbox/lane-ids.ts";
import type { LogRow } from "./delivery-store.ts";
import { LaneWindow, type WindowEntry } from "./lane-window.ts";

const row = (seq: number): LogRow => ({
  id: laneIdAt({ lane: 1, lastMs: 1000, lastSeq: seq }),
  type: "alarm.sos",
  deviceUid: "490154203237518",
  pushEpoch: 1,
  body: "{}",
  version: null,
  trace: null,
});

function begun(count: number): { window: LaneWindow; entries: WindowEntry[] } {
  const window = new LaneWindow({ ms: 0, seq: 0 });
  window.add(Array.from({ length: count }, (_, index) => row(index + 1)));
  const entries: WindowEntry[] = [];
  for (let n = 0; n < count; n++) {
    const entry = window.next() as WindowEntry;
    window.begin(entry, 10 * (n + 1));
    entries.push(entry);
  }
  return { window, entries };
}

describe("the cursor", () => {
  it("stands before the first row that has not ended", () => {
    const { window, entries } = begun(4);
    for (const index of [1, 2]) (entries[index] as WindowEntry).isSettled = true;
    expect(window.advance()).toEqual({ ms: 0, seq: 0 });
    expect(window.oldestId).toBe(row(1).id);
    (entries[0] as WindowEntry).isSettled = true;
    expect(window.advance()).toEqual({ ms: 1000, seq: 3 });
    expect(window.size).toBe(1);
  });

  it("does not pass rows that were not begun", () => {
    const { window, entries } = begun(1);
    window.add([row(2)]);
    (entries[0] as WindowEntry).isSettled = true;
    expect(window.advance()).toEqual({ ms: 1000, seq: 1 });
    expect(window.next()?.row.id).toBe(row(2).id);
  });

  it("passes rows that are skipped", () => {
    const window = new LaneWindow({ ms: 0, seq: 0 });
    window.add([row(1), row(2)]);
    window.skip(window.next() as WindowEntry);
    expect(window.advance()).toEqual({ ms: 1000, seq: 1 });
    expect(window.waiting).toBe(1);
  });

  it("passes a slow row once it is parked, and leaves the quick ones", () => {
    const { window, entries } = begun(3);
    (entries[1] as WindowEntry).isSettled = true;
    expect(window.park(10)).toEqual([entries[0]]);
    expect(window.park(10)).toEqual([]);
    expect(window.advance()).toEqual({ ms: 1000, seq: 2 });
  });
});
