import { describe, expect, it } from "vitest";
import type { FleetDevice } from "../api/types.ts";
import { makeStateFleet, sortKey } from "./fleet-states.ts";

const nowMs = Date.parse("2026-05-01T12:00:00Z");
const device = (uid: string, name: string, fields: Partial<FleetDevice> = {}) =>
  [uid, { uid, name, is_online: true, last_location: null, ...fields } as unknown as FleetDevice] as const;

describe("the fleet beside the map", () => {
  it("has alarms first, then who is online, by name", () => {
    const known = new Map([
      device("1", "Watch 10"),
      device("2", "Watch 2"),
      device("3", "Ärmel", { is_online: false }),
      device("4", "Zoe"),
    ]);
    const names = makeStateFleet()(known, new Set(["4"]), nowMs).map((one) => `${one.device.name} ${one.state}`);
    expect(names).toEqual(["Zoe alarm", "Watch 2 online", "Watch 10 online", "Ärmel offline"]);
  });

  it("keeps the object of a device that has not changed, and shows a new name in its place", () => {
    const stateFleet = makeStateFleet();
    const known = new Map([device("1", "Ada"), device("2", "Bea")]);
    const [ada, bea] = stateFleet(known, new Set(), nowMs);
    const next = stateFleet(new Map([...known, device("1", "Cleo")]), new Set(), nowMs);
    expect(next[0]).toBe(bea);
    expect(next[1]?.device.name).toBe("Cleo");
    expect(next[1]).not.toBe(ada);
  });

  it("forgets who has gone and takes in who has come", () => {
    const stateFleet = makeStateFleet();
    stateFleet(new Map([device("1", "Ada"), device("2", "Bea")]), new Set(), nowMs);
    const next = stateFleet(new Map([device("2", "Bea"), device("3", "Al")]), new Set(["2"]), nowMs);
    expect(next.map((one) => `${one.device.name} ${one.state}`)).toEqual(["Bea alarm", "Al online"]);
  });

  it("sorts capitals and accents alike, and numbers by their value", () => {
    expect([sortKey("Él 2"), sortKey("el 10")].toSorted()[0]).toBe(sortKey("él 2"));
  });
});
