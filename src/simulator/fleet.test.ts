import { expect, it } from "vitest";
import { checkDigit, makeFleet, rome } from "./fleet.ts";

const city = { ...rome, utcOffsetMinutes: 60 };

it("a simulated fleet knows the check digit of an IMEI", () => {
  expect(checkDigit("49015420323751")).toBe(8);
});

it("a simulated fleet gives the same seed the same fleet, with IMEIs and short ids that are unique", () => {
  const fleet = makeFleet(5, 3000, "mixed", city);
  expect(makeFleet(5, 3000, "mixed", city)).toEqual(fleet);
  for (const { imei } of fleet) {
    expect(imei).toMatch(/^\d{15}$/);
    expect(checkDigit(imei.slice(0, 14))).toBe(Number(imei[14]));
  }
  expect(new Set(fleet.map(({ imei }) => imei)).size).toBe(3000);
  expect(new Set(fleet.map(({ imei }) => imei.slice(4, 14))).size).toBe(3000);
  expect(makeFleet(6, 1, "iw", city)[0]?.imei).not.toBe(makeFleet(5, 1, "iw", city)[0]?.imei);
  expect(fleet.slice(0, 2)).toMatchObject([
    { name: "Simulated 1", protocol: "iw", modelSlug: "iw-h10" },
    { name: "Simulated 2", protocol: "watch", modelSlug: "watch-generic" },
  ]);
});
