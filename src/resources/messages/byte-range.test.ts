import { describe, expect, it } from "vitest";
import { readRange } from "./byte-range.ts";

describe("a Range header", () => {
  it.each([
    ["bytes=0-9", { kind: "part", first: 0, last: 9 }],
    ["bytes=90-", { kind: "part", first: 90, last: 99 }],
    ["bytes=90-500", { kind: "part", first: 90, last: 99 }],
    ["bytes=-10", { kind: "part", first: 90, last: 99 }],
    ["bytes=-500", { kind: "part", first: 0, last: 99 }],
    ["bytes=99-99", { kind: "part", first: 99, last: 99 }],
    ["bytes=100-", { kind: "unsatisfiable" }],
    ["bytes=-0", { kind: "unsatisfiable" }],
    [undefined, { kind: "whole" }],
    ["bytes=0-1,5-6", { kind: "whole" }],
    ["bytes=9-1", { kind: "whole" }],
    ["bytes=-", { kind: "whole" }],
    ["lines=1-2", { kind: "whole" }],
  ])("%s", (header, range) => {
    expect(readRange(header, 100)).toEqual(range);
  });
});
