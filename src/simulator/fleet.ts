import type { DeviceProtocol, Identity } from "./device-protocol.ts";
import type { City, Person } from "./itinerary.ts";
import { makeIwDevice } from "./iw-device.ts";
import { hash } from "./random.ts";
import { makeWatchDevice } from "./watch-device.ts";

export const fleetProtocols = ["iw", "watch", "mixed"] as const;
export type FleetProtocol = (typeof fleetProtocols)[number];

/** A device and its wearer. The same seed and number always give the same, so that the truth can be told again later. */
export interface FleetMember extends Identity {
  number: number;
  name: string;
  protocol: "iw" | "watch";
  modelSlug: string;
  person: Person;
}

export const largestFleet = 100_000;

export const rome: Omit<City, "utcOffsetMinutes"> = { lat: 41.9028, lng: 12.4964, mcc: 222, mnc: 1 };
export const romeTimezone = "Europe/Rome";

const modelSlugs = { iw: "iw-h10", watch: "watch-generic" } as const;

/** Luhn, over the 14 digits before it. */
export function checkDigit(digits: string): number {
  let sum = 0;
  for (const [index, digit] of [...digits].entries()) {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return (10 - (sum % 10)) % 10;
}

/** The seed is in the type code, the number in the serial: digits 5 to 14, a watch's short id, are unique in a fleet. */
function imeiOf(seed: number, number: number): string {
  const type = `35${String(hash(seed, "type code") % 1_000_000).padStart(6, "0")}`;
  const digits = type + String(number).padStart(6, "0");
  return digits + checkDigit(digits);
}

/** Numbers count from 1. */
export function fleetMember(seed: number, number: number, protocol: FleetProtocol, city: City): FleetMember {
  const imei = imeiOf(seed, number);
  const own = protocol === "mixed" ? (number % 2 === 1 ? "iw" : "watch") : protocol;
  return {
    imei,
    id: own === "watch" ? imei.slice(4, 14) : imei,
    number,
    name: `Simulated ${number}`,
    protocol: own,
    modelSlug: modelSlugs[own],
    person: { seed: hash(seed, "person", number), city },
  };
}

export const makeFleet = (seed: number, count: number, protocol: FleetProtocol, city: City): FleetMember[] =>
  Array.from({ length: count }, (_, index) => fleetMember(seed, index + 1, protocol, city));

/** The device's side by model; models that are not named speak like the first of their protocol. */
export function makeProtocols(): (modelSlug: string) => DeviceProtocol {
  const [iwA, iwB, watch] = [makeIwDevice("A"), makeIwDevice("B"), makeWatchDevice()];
  return (modelSlug) => (modelSlug === "iw-pt880" ? iwB : modelSlug.startsWith("iw") ? iwA : watch);
}
