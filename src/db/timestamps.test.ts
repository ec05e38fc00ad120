import { types } from "pg";
import { describe, expect, it } from "vitest";
import { parseUtcTimestamp } from "./timestamps.ts";

const timestamptz = 1184;
const parseAsDriver = types.getTypeParser(timestamptz) as (text: string) => Date;

describe("a timestamp of the database", () => {
  it.each([
    "2026-03-01 08:15:29+00",
    "2026-03-01 08:15:29.9+00",
    "2026-03-01 08:15:29.91+00",
    "2026-03-01 08:15:29.012+00",
    "2026-03-01 08:15:29.000001+00",
    "2024-02-29 23:59:59.999999+00",
    "9999-12-31 23:59:59.5+00",
    "0101-01-01 00:00:00+00",
    "1969-12-31 23:59:59.123+00",
  ])("%s is the date of the driver", (text) => {
    expect(parseUtcTimestamp(text)).toEqual(parseAsDriver(text));
  });

  it("is right at every millisecond of a second, where a sum of fractions would lose some", () => {
    for (let ms = 0; ms < 1000; ms++) {
      const iso = new Date(Date.UTC(2026, 2, 1, 8, 15, 29, ms)).toISOString();
      expect(parseUtcTimestamp(`${iso.slice(0, 10)} ${iso.slice(11, 23)}+00`)?.toISOString()).toBe(iso);
    }
  });

  it.each([
    "2026-03-01 08:15:29+01",
    "2026-03-01 08:15:29+05:30",
    "0044-03-15 00:00:00+00 BC",
    "0044-03-15 00:00:00+00",
    "12026-03-01 08:15:29+00",
    "infinity",
    "-infinity",
    "2026-03-01",
    "",
  ])("%s is left to the driver", (text) => {
    expect(parseUtcTimestamp(text)).toBeUndefined();
  });
});
