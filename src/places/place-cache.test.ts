import { expect, it } from "vitest";
import { gridKey, networksKey } from "./place-cache.ts";

const metre = 1 / 111_195;
const cell = { mcc: 222, mnc: 1, lac: 10, cid: 20, signal_dbm: -80 };
const report = { ts: "", device_ts: null, received_at: "", mcc: null, mnc: null };

it("the place cache gives the same networks one key, whatever their order and strength", () => {
  const other = { ...cell, cid: 21 };
  const access_points = [
    { mac: "00:11:22:33:44:55", signal_dbm: -60 },
    { mac: "00:11:22:33:44:66", signal_dbm: null },
  ];
  const key = networksKey({ ...report, cells: [cell, other], access_points });
  const cells = [other, { ...cell, signal_dbm: -99 }, other];
  expect(networksKey({ ...report, cells, access_points: access_points.toReversed() })).toBe(key);
  expect(networksKey({ ...report, cells: [cell], access_points })).not.toBe(key);
});

it.each([0, 41.9, -33.9, 64.1, 89.999])(
  "the place cache cuts the ground into cells of about 25 m at latitude %d",
  (lat) => {
    const eastMetre = metre / Math.max(Math.cos((lat * Math.PI) / 180), 0.001);
    const width = (key: (metres: number) => string): number =>
      400 / (new Set(Array.from({ length: 401 }, (_, metres) => key(metres))).size - 1);
    expect(width((metres) => gridKey(lat, 12.5 + metres * eastMetre))).toBeCloseTo(25, -1);
    expect(width((metres) => gridKey(Math.min(lat, 89) + metres * metre, 12.5))).toBeCloseTo(25, -1);
  },
);
