import { describe, expect, it } from "vitest";
import { corpus as gl200 } from "../../test/support/gl200-corpus.ts";
import { corpus as minifinder2 } from "../../test/support/minifinder2-corpus.ts";
import { corpus as osmand } from "../../test/support/osmand-corpus.ts";
import { readVectors, requestBytes, type Vector, vectorBytes } from "../../test/support/vectors.ts";
import { corpus as watch } from "../../test/support/watch-corpus.ts";
import { protocols } from "./protocols.ts";

/** One port serves all protocols: no two may claim the same first bytes, however few of them have come. */
const claimants = (start: Buffer): string[] =>
  protocols.filter((protocol) => protocol.recognizes(start) === true).map(({ slug }) => slug);
const candidates = (start: Buffer): string[] =>
  protocols.filter((protocol) => protocol.recognizes(start) !== false).map(({ slug }) => slug);

/** Who claims the frame when it comes one byte at a time, and whether its protocol was ever ruled out before. */
function byteByByte(frame: Buffer, slug: string): string[] {
  for (let length = 1; length <= frame.length; length++) {
    const start = frame.subarray(0, length);
    const claimed = claimants(start);
    if (claimed.length > 0) return claimed;
    expect(candidates(start)).toContain(slug);
  }
  return [];
}

const bytesOf = (vector: Vector): Buffer => (vector.http ? requestBytes(vector) : vectorBytes(vector));
const uplinks = protocols.flatMap(({ slug }) =>
  readVectors(`${slug}.jsonl`)
    .filter(({ direction }) => direction === "uplink")
    .map((vector) => [slug, vector] as const),
);

const own: [slug: string, corpus: readonly Buffer[]][] = [
  ["gl200", gl200],
  ["minifinder2", minifinder2],
  ["osmand", osmand],
  ["watch", watch],
];

describe("the first bytes of a connection", () => {
  it.each(own)("are claimed by %s alone, whole and byte by byte", (slug, corpus) => {
    for (const frame of corpus) {
      expect(claimants(frame)).toEqual([slug]);
      expect(byteByByte(frame, slug)).toEqual([slug]);
    }
  });

  it("are nobody's when nothing has come", () => expect(claimants(Buffer.alloc(0))).toEqual([]));

  it.skipIf(uplinks.length === 0)("of captured frames are claimed by their own protocol or by none", () => {
    for (const [slug, vector] of uplinks) {
      const frame = bytesOf(vector);
      const claimed = claimants(frame);
      // Frames that cannot be the first of a connection may be nobody's.
      expect([[], [slug]]).toContainEqual(claimed);
      if (claimed.length > 0) expect(byteByByte(frame, slug)).toEqual([slug]);
    }
  });

  it.skipIf(uplinks.length === 0)("of captured frames are claimed for every protocol", () => {
    const found = new Set(uplinks.flatMap(([, vector]) => claimants(bytesOf(vector))));
    expect([...found].toSorted()).toEqual([...new Set(uplinks.map(([slug]) => slug))].toSorted());
  });
});
