import { expect, it } from "vitest";
import { acceptedEncoding, acceptsGzip, matchesTag } from "./negotiation.ts";

it.each([
  [undefined, false],
  ["gzip", true],
  ["br, gzip;q=0.5", true],
  ["gzip;q=0", false],
  ["identity", false],
])("gzip with Accept-Encoding: %s is %s", (header, expected) => {
  expect(acceptsGzip(header)).toBe(expected);
});

it.each([
  [undefined, false],
  ['W/"a"', true],
  ['"a"', true],
  ['"b", W/"a"', true],
  ["*", true],
  ['"b"', false],
])("If-None-Match %s matches: %s", (header, expected) => {
  expect(matchesTag(header, 'W/"a"')).toBe(expected);
});

it.each([
  [undefined, undefined],
  ["gzip, deflate, br", "br"],
  ["gzip, br;q=0", "gzip"],
  ["identity", undefined],
])("Accept-Encoding %s is answered with %s", (header, expected) => {
  expect(acceptedEncoding(header, ["br", "gzip"])).toBe(expected);
});
