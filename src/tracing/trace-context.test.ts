import { describe, expect, it } from "vitest";
import { formatTraceparent, parseTraceparent } from "./trace-context.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";

describe("a traceparent header", () => {
  it.each([
    ["01", true],
    ["00", false],
    ["03", true],
  ])("with the flags %s is sampled: %s", (flags, isSampled) => {
    expect(parseTraceparent(`00-${traceId}-${spanId}-${flags}`)).toEqual({ traceId, spanId, isSampled });
  });

  it("of a later version is read as far as it is known", () => {
    expect(parseTraceparent(`cc-${traceId}-${spanId}-01-more`)).toMatchObject({ traceId, spanId });
  });

  it.each([
    undefined,
    null,
    "",
    "hello",
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01\nx`,
  ])("%j is none", (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  it("is written as it is read", () => {
    const text = `00-${traceId}-${spanId}-01`;
    const context = parseTraceparent(text);
    expect(context && formatTraceparent(context)).toBe(text);
  });
});
