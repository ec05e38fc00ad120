import { describe, expect, it } from "vitest";
import type { FleetDevice } from "../api/types.ts";
import { differenceOf } from "./fleet-difference.ts";
import type { StatedDevice } from "./fleet-states.ts";

const at = (uid: string, lat: number | null, fields: Partial<FleetDevice> = {}): StatedDevice => ({
  device: {
    uid,
    name: "",
    last_location: lat === null ? null : { lat, lng: 12 },
    ...fields,
  } as unknown as FleetDevice,
  state: "online",
});
const uids = ({ add, remove }: ReturnType<typeof differenceOf>) => ({
  add: add.map(({ properties }) => properties?.uid),
  remove,
});

describe("what the map must draw anew", () => {
  it("is everything at first, and then what moved, changed its state or its name", () => {
    const drawn = new Map<string, StatedDevice>();
    const fleet = [at("1", 1), at("2", 2), at("3", 3), at("4", 4)];
    expect(uids(differenceOf(drawn, fleet)).add).toEqual(["1", "2", "3", "4"]);
    expect(uids(differenceOf(drawn, fleet))).toEqual({ add: [], remove: [] });
    const [one, two, three, four] = fleet as [StatedDevice, StatedDevice, StatedDevice, StatedDevice];
    const next = [at("1", 1.5), { ...two, state: "alarm" as const }, { ...three }, at("4", 4, { name: "Ada" })];
    expect(uids(differenceOf(drawn, next))).toEqual({ add: ["1", "2", "4"], remove: [] });
    expect([drawn.get("1") === one, drawn.get("4") === four]).toEqual([false, false]);
  });

  it("takes away who has gone or has no place, also when as many others have come", () => {
    const drawn = new Map<string, StatedDevice>();
    differenceOf(drawn, [at("1", 1), at("2", 2), at("3", 3)]);
    const result = uids(differenceOf(drawn, [at("3", null), at("4", 4), at("5", 5)]));
    expect(result).toEqual({ add: ["4", "5"], remove: ["3", "1", "2"] });
    expect([...drawn.keys()].toSorted()).toEqual(["3", "4", "5"]);
  });
});
