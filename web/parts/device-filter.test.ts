import { describe, expect, it } from "vitest";
import type { Device } from "../api/types.ts";
import { byName, type DeviceFilter, listQuery, oneOf, orders, parseTags } from "./device-filter.ts";

const all: DeviceFilter = { search: "", state: "", battery: "", seen: "", order: "name" };

describe("the list of devices", () => {
  it("is found by the service, with what was chosen and nothing else", () => {
    expect(listQuery(all)).toBe("ordering=name");
    expect(listQuery({ ...all, search: " ward 3 & 4 ", state: "alarm", order: "seen" })).toBe(
      "search=ward+3+%26+4&state=alarm&ordering=last_seen_at",
    );
    expect(listQuery({ ...all, battery: "low", seen: "never", order: "battery" })).toBe(
      "battery=low&seen=never&ordering=battery",
    );
  });

  it("takes from the address only what it knows", () => {
    expect([oneOf(orders, "battery"), oneOf(orders, "<script>"), oneOf(orders, null)]).toEqual([
      "battery",
      "name",
      "name",
    ]);
  });

  it("names a device with a lower number before one with a higher", () => {
    const named = (name: string) => ({ name, uid: name }) as Device;
    expect(
      ["Watch 10", "Watch 2"]
        .map(named)
        .toSorted(byName)
        .map(({ name }) => name),
    ).toEqual(["Watch 2", "Watch 10"]);
  });

  it("reads tags from one line", () => {
    expect(parseTags(" ward 3, night,, ward 3 ")).toEqual(["ward 3", "night"]);
  });
});
