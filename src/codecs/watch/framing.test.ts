import { describe, expect, it } from "vitest";
import { maxFrameBytes, nextPiece } from "./framing.ts";

/** The pieces as `kind:text`. */
function pieces(input: string): string[] {
  const bytes = Buffer.from(input, "latin1");
  const found: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const piece = nextPiece(bytes, at, at, undefined, 0);
    const end = piece.kind === "incomplete" ? bytes.length : piece.end;
    if (piece.start < end) found.push(`${piece.kind}:${bytes.toString("latin1", piece.start, end)}`);
    at = end;
  }
  return found;
}

const lk = "[3G*5550001234*0002*LK]";

describe("finding frames", () => {
  it("takes glued frames apart", () => expect(pieces(lk + lk)).toEqual([`frame:${lk}`, `frame:${lk}`]));

  it("lets line ends between frames pass", () => expect(pieces(`\r\n${lk}\r\n${lk}\n`)).toHaveLength(2));

  it("tells stray bytes apart", () =>
    expect(pieces(`junk]${lk}[[*${lk}`)).toEqual(["stray:junk]", `frame:${lk}`, "stray:[[*", `frame:${lk}`]));

  it("waits for the end, and for the beginning", () => {
    for (const start of ["[", "[3", "[3G", "[3G*", "[3G*55", lk.slice(0, -1)])
      expect(pieces(start)).toEqual([`incomplete:${start}`]);
    expect(pieces("x[3G")).toEqual(["stray:x", "incomplete:[3G"]);
  });

  it("keeps brackets inside that belong together", () => {
    const frame = "[3G*5550001234*0000*WT,1,[LG] tv [[x]],-70]";
    expect(pieces(frame + lk)).toEqual([`frame:${frame}`, `frame:${lk}`]);
  });

  it("ends a frame with a bracket too many by its length, before anything follows", () => {
    const frame = "[3G*5550001234*000D*WT,1,[ tv,-70]";
    expect(pieces(frame)).toEqual([`frame:${frame}`]);
  });

  it("ends a frame with a bracket too many and a wrong length where the next begins", () => {
    const frame = "[3G*5550001234*0001*WT,1,[ tv,-70]";
    expect(pieces(`${frame}\r\n${lk}`)).toEqual([`frame:${frame}`, `frame:${lk}`]);
  });

  it("gives up a frame that lost its end when the next begins", () => {
    expect(pieces(`[3G*5550001234*0010*LK,12${lk}`)).toEqual(["broken:[3G*5550001234*0010*LK,12", `frame:${lk}`]);
    expect(pieces(`[3G*${lk}`)).toEqual(["broken:[3G*", `frame:${lk}`]);
  });

  it("gives up a frame that is too long, and finds the one after it", () => {
    const endless = `[3G*5550001234*FFFF*TK,${"x".repeat(maxFrameBytes)}`;
    expect(pieces(endless.slice(0, maxFrameBytes - 1))[0]).toMatch(/^incomplete:/);
    const found = pieces(endless + lk);
    expect(found.map((piece) => piece.split(":")[0])).toEqual(["broken", "stray", "frame"]);
    expect(found[0]).toHaveLength("broken:".length + maxFrameBytes);
  });

  it("needs one pass, whatever the brackets", () => {
    const started = performance.now();
    for (const part of ["[", "[3G*", "]", "[3G*5550001234*0002*", "[3G*5550001234*0002*]", "[aaaaaaaa"])
      pieces(part.repeat(Math.ceil(4_000_000 / part.length / 4)));
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
