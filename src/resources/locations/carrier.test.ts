import { expect, it } from "vitest";
import { carriersOf, loadCarriers } from "./carrier.ts";

const carrierName = loadCarriers();

it.each([
  ["Italy", 222, 1, "TIM"],
  ["Italy", 222, 10, "Vodafone"],
  ["Germany", 262, 1, "Telekom"],
  ["France", 208, 1, "Orange"],
  ["United Kingdom", 234, 15, "Vodafone UK"],
  ["Spain", 214, 7, "Movistar"],
  ["Switzerland", 228, 1, "Swisscom"],
  ["Ukraine", 255, 3, "Kyivstar"],
  ["China", 460, 0, "China Mobile"],
  ["Japan", 440, 10, "NTT docomo"],
  ["Australia", 505, 1, "Telstra"],
  ["Brazil", 724, 5, "Claro"],
  ["Canada, three digits", 302, 720, "Rogers Wireless"],
  ["Mexico, three digits that begin with zero", 334, 20, "Telcel"],
  ["United States, three digits that begin with zeros", 310, 4, "Verizon"],
])("the carrier lookup names a network of %s", (_country, mcc, mnc, name) => {
  expect(carrierName(mcc, mnc)).toBe(name);
});

it("the carrier lookup takes the live entry where the list repeats a network", () => {
  expect(carrierName(270, 77)).toBe("Tango");
  expect(carrierName(234, 18)).toBe("Cloud9");
  expect(carrierName(310, 410)).toBe("AT&T");
});

it("the carrier lookup knows nothing of unknown networks and of values that are none", () => {
  for (const [mcc, mnc] of [
    [998, 99],
    [0, 0],
    [222, 999],
    [-1, -1],
    [222.5, 1],
    [Number.NaN, Number.NaN],
    [65535, 65535],
  ] as const) {
    expect(carrierName(mcc, mnc)).toBeNull();
  }
  expect(carrierName(310, 14)).toBeNull();
});

it("the carrier lookup prefers operational, then branded, then the first", () => {
  const row = { mcc: "901", mnc: "01", brand: null, operator: null, status: "Unknown" };
  const nameOf = (...rows: (typeof row | Record<string, unknown>)[]) =>
    carriersOf(rows.map((changes) => ({ ...row, ...changes })))(901, 1);
  expect(nameOf({ brand: "Old" }, { operator: "Live Ltd", status: "Operational" })).toBe("Live Ltd");
  expect(nameOf({ operator: "Plain Ltd" }, { brand: "Brand", operator: "Plain Ltd" })).toBe("Brand");
  expect(nameOf({ brand: "First" }, { brand: "Second" })).toBe("First");
  expect(nameOf({})).toBeNull();
});
