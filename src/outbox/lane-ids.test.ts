import { describe, expect, it } from "vitest";
import { laneIdAt, positionOfLaneId } from "./lane-ids.ts";

const at = (lane: number, lastMs: number, ...seqs: number[]) =>
  seqs.map((lastSeq) => laneIdAt({ lane, lastMs, lastSeq }));

describe("ids of a lane", () => {
  it("rise with their position", () => {
    const ids = [...at(7, 1000, 1, 2, 65_535, 65_537, 2 ** 22 - 1, 2 ** 22, 2 ** 34 - 1), ...at(7, 1001, 1)];
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("have the counter around the variant, and the lane behind it", () => {
    expect(at(1, 5, 2 ** 22, 2 ** 34 - 1)).toEqual([
      "00000000-0005-7001-8000-000000000100",
      "00000000-0005-7fff-bfff-ff0000000100",
    ]);
  });

  it("are of version 7 and the variant of the RFC, and differ between lanes", () => {
    const now = 1_772_352_930_000;
    const [one, two] = [...at(1, now, 1), ...at(2, now, 1)];
    expect(one).toMatch(/^019ca877-80d0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(one).not.toBe(two);
  });

  it("say where they stand", () => {
    for (const lastSeq of [0, 1, 2 ** 22 - 1, 2 ** 22, 2 ** 34 - 1]) {
      const id = laneIdAt({ lane: 2 ** 31 - 1, lastMs: 1_772_352_930_123, lastSeq });
      expect(positionOfLaneId(id)).toEqual({ ms: 1_772_352_930_123, seq: lastSeq });
    }
  });
});
