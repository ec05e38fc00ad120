import { describe, expect, it } from "vitest";
import { laneIdAt, nextLaneId, positionOfLaneId } from "./lane-ids.ts";

describe("ids of a lane", () => {
  it("rise also when the clock goes back", () => {
    const position = { lane: 7, lastMs: 0, lastSeq: 0 };
    const ids = [1000, 1000, 1001, 400, 400, 1001, 1002].map((nowMs) => nextLaneId(position, nowMs));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("rise when the counter leaves its lower bits", () => {
    const position = { lane: 1, lastMs: 5, lastSeq: 2 ** 22 - 2 };
    const ids = [5, 5, 5].map((nowMs) => nextLaneId(position, nowMs));
    expect(ids.toSorted()).toEqual(ids);
    expect(ids[1]).toMatch(/^00000000-0005-7001-80/);
  });

  it("are of version 7 and the variant of the RFC, and differ between lanes", () => {
    const at = (lane: number) => nextLaneId({ lane, lastMs: 0, lastSeq: 0 }, 1_772_352_930_000);
    expect(at(1)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(at(1)).not.toBe(at(2));
  });

  it("say where they stand", () => {
    for (const lastSeq of [0, 1, 2 ** 22 - 1, 2 ** 22, 2 ** 34 - 1]) {
      const id = laneIdAt({ lane: 4_000_000_000, lastMs: 1_772_352_930_123, lastSeq });
      expect(positionOfLaneId(id)).toEqual({ ms: 1_772_352_930_123, seq: lastSeq });
    }
  });
});
