import { expect, it } from "vitest";
import { parseDateTime } from "./query-params.ts";

it.each([
  ["2026-03-01T08:15:30.123Z", "2026-03-01T08:15:30.123Z"],
  ["2026-03-01T08:15:30.1230004Z", "2026-03-01T08:15:30.124Z"],
  ["2026-03-01T08:15:30.123000Z", "2026-03-01T08:15:30.123Z"],
  ["2026-03-01T08:15:59.9999Z", "2026-03-01T08:16:00.000Z"],
  ["2026-03-01T08:15:30.5", "2026-03-01T08:15:30.500Z"],
  ["2026-03-01T08:15:30 02:00", "2026-03-01T06:15:30.000Z"],
  ["2026-03-01", "2026-03-01T00:00:00.000Z"],
])("a time filter reads %s as a bound that divides milliseconds alike: %s", (text, read) => {
  expect(parseDateTime(text)?.toISOString()).toBe(read);
});
