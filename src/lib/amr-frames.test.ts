import { describe, expect, it } from "vitest";
import { readAmrFrames } from "./amr-frames.ts";

const frame = (type: number, size: number): Buffer =>
  Buffer.concat([Buffer.from([(type << 3) | 4]), Buffer.alloc(size)]);
const narrow = (...frames: Buffer[]): Buffer => Buffer.concat([Buffer.from("#!AMR\n"), ...frames]);

describe("the frames of an AMR file", () => {
  it("are counted by their heads, whatever their modes", () => {
    const file = narrow(frame(0, 12), frame(7, 31), frame(8, 5), frame(15, 0));
    expect(readAmrFrames(file)).toEqual({
      isWideband: false,
      count: 4,
      maxMode: 7,
      isWhole: true,
      end: file.length,
    });
    expect(readAmrFrames(file, 2)).toMatchObject({ count: 2, end: 6 + 13 + 32 });
    const wide = Buffer.concat([Buffer.from("#!AMR-WB\n"), frame(0, 17), frame(8, 60)]);
    expect(readAmrFrames(wide)).toMatchObject({ isWideband: true, count: 2, isWhole: true });
  });

  it("end where the file is damaged or cut", () => {
    expect(readAmrFrames(narrow(frame(7, 31), frame(9, 5)))).toMatchObject({ count: 1, isWhole: false });
    expect(readAmrFrames(narrow(frame(7, 31), frame(7, 30)))).toMatchObject({ count: 1, isWhole: false });
    expect(readAmrFrames(narrow(Buffer.from([0x3c | 0x80]), Buffer.alloc(31)))).toMatchObject({
      count: 0,
      isWhole: false,
    });
  });

  it("are not looked for in other files", () => {
    for (const text of ["", "#!AM", "RIFF....WAVE", "#!AMR_MC1.0\n"]) {
      expect(readAmrFrames(Buffer.from(text))).toBeUndefined();
    }
  });
});
