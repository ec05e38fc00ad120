import { describe, expect, it } from "vitest";
import { formatUuid } from "../lib/ids.ts";
import { laneIdAt, makeLaneIds, positionOfLaneId, seqsPerMs } from "./lane-ids.ts";

const take = (count: number, lane: number, lastMs: number, lastSeq: number) => {
  const next = makeLaneIds({ lane, lastMs, lastSeq });
  return Array.from({ length: count }, () => next());
};
const texts = (...args: Parameters<typeof take>) => take(...args).map(({ text }) => text);

describe("ids of a lane", () => {
  it("rise, each above the position they began at", () => {
    const ids = [...texts(3, 7, 1000, 0), ...texts(2, 7, 1000, 3), ...texts(1, 7, 1001, 0)];
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(6);
  });

  it("rise when the counter leaves its lower bits, up to its end", () => {
    const ids = [...texts(3, 1, 5, 2 ** 22 - 2), ...texts(1, 1, 5, seqsPerMs - 2), ...texts(1, 1, 6, 0)];
    expect(ids.toSorted()).toEqual(ids);
    expect(ids[1]).toBe("00000000-0005-7001-8000-000000000100");
    expect(ids[3]).toBe("00000000-0005-7fff-bfff-ff0000000100");
    expect(() => take(1, 1, 5, seqsPerMs - 1)).toThrow(RangeError);
  });

  it("are of version 7 and the variant of the RFC, and differ between lanes", () => {
    const now = 1_772_352_930_000;
    const [one, two] = [...texts(1, 1, now, 0), ...texts(1, 2, now, 0)];
    expect(one).toMatch(/^019ca877-80d0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(one).not.toBe(two);
  });

  it("are the same as text and as bytes", () => {
    for (const seq of [0, 1, 2 ** 22 - 1, 2 ** 30]) {
      for (const { text, bytes } of take(2, 2 ** 31 - 1, 1_772_352_930_123, seq)) expect(formatUuid(bytes)).toBe(text);
    }
  });

  it("say where they stand", () => {
    for (const lastSeq of [0, 1, 2 ** 22 - 1, 2 ** 22, 2 ** 34 - 1]) {
      const id = laneIdAt({ lane: 2 ** 31 - 1, lastMs: 1_772_352_930_123, lastSeq });
      expect(positionOfLaneId(id)).toEqual({ ms: 1_772_352_930_123, seq: lastSeq });
      if (lastSeq > 0) expect(texts(1, 2 ** 31 - 1, 1_772_352_930_123, lastSeq - 1)).toEqual([id]);
    }
  });
});
