import { describe, expect, it } from "vitest";
import type { FleetDevice } from "../api/types.ts";
import { type DeviceFilter, filterDevices, oneOf, orders, parseTags, sortDevices } from "./device-filter.ts";

const nowMs = Date.parse("2026-05-01T12:00:00Z");

function device(name: string, fields: Partial<FleetDevice> = {}) {
  const base = {
    uid: `uid-${name}`,
    name,
    tags: [],
    people: ["Eva"],
    device_model_name: "H10",
    last_seen_at: null,
    last_status: {},
  };
  return { device: { ...base, ...fields } as unknown as FleetDevice, state: "online" as const };
}
const bat = (value: number) => ({ last_status: { bat: { value, ts: null } } });
const seen = (hours: number) => ({ last_seen_at: new Date(nowMs - hours * 3_600_000).toISOString() });

const fleet = [
  device("Ada", { ...bat(15), ...seen(0.5), tags: ["ward 3"] }),
  { ...device("Bea", { ...bat(40), ...seen(30) }), state: "alarm" as const },
  { ...device("Cleo", seen(5)), state: "offline" as const },
  device("Dora", bat(90)),
];
const all: DeviceFilter = { search: "", state: "", battery: "", seen: "" };
const names = (filter: Partial<DeviceFilter>): string[] =>
  filterDevices(fleet, { ...all, ...filter }, nowMs).map((one) => one.device.name);

describe("the list of devices", () => {
  it("is searched by name, IMEI, model, tag and person", () => {
    expect(names({ search: "eva" })).toHaveLength(4);
    expect(names({ search: " WARD " })).toEqual(["Ada"]);
    expect(names({ search: "uid-Bea" })).toEqual(["Bea"]);
    expect(names({ search: "h10" })).toHaveLength(4);
    expect(names({ search: "nobody" })).toEqual([]);
  });

  it("is filtered by state, battery and when a device was last seen", () => {
    expect(names({ state: "alarm" })).toEqual(["Bea"]);
    expect(names({ battery: "low" })).toEqual(["Ada"]);
    expect(names({ battery: "half" })).toEqual(["Ada", "Bea"]);
    expect(names({ battery: "unknown" })).toEqual(["Cleo"]);
    expect(names({ seen: "hour" })).toEqual(["Ada"]);
    expect(names({ seen: "day" })).toEqual(["Ada", "Cleo"]);
    expect(names({ seen: "older" })).toEqual(["Bea"]);
    expect(names({ seen: "never" })).toEqual(["Dora"]);
  });

  it("shows first what needs somebody, and last what is unknown", () => {
    const order = (by: (typeof orders)[number]): string[] => sortDevices(fleet, by).map((one) => one.device.name);
    expect(order("name")).toEqual(["Ada", "Bea", "Cleo", "Dora"]);
    expect(order("state")).toEqual(["Bea", "Cleo", "Ada", "Dora"]);
    expect(order("battery")).toEqual(["Ada", "Bea", "Dora", "Cleo"]);
    expect(order("seen")).toEqual(["Bea", "Cleo", "Ada", "Dora"]);
  });

  it("takes from the address only what it knows", () => {
    expect([oneOf(orders, "battery"), oneOf(orders, "<script>"), oneOf(orders, null)]).toEqual([
      "battery",
      "name",
      "name",
    ]);
  });

  it("reads tags from one line", () => {
    expect(parseTags(" ward 3, night,, ward 3 ")).toEqual(["ward 3", "night"]);
  });
});
