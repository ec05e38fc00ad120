import { protocols, rulesOf, type SpokenSlug } from "../codecs/protocols.ts";
import type { DeviceProtocol, FleetTransport, Identity } from "./device-protocol.ts";
import type { City, Person } from "./itinerary.ts";
import { hash } from "./random.ts";
import { type VirtualModels, virtualProtocols } from "./virtual-protocols.ts";

const models: readonly (readonly [SpokenSlug, VirtualModels])[] = Object.entries(virtualProtocols).flatMap(
  ([slug, models]) => (models === null ? [] : [[slug as SpokenSlug, models] as const]),
);

export const defaultProtocol = (models[0] as (typeof models)[number])[0];
/** `mixed`: all that have a virtual device, in turn. */
export type FleetProtocol = SpokenSlug | "mixed";
export const fleetProtocols: readonly FleetProtocol[] = [...models.map(([slug]) => slug), "mixed"];

const speaks = (slug: SpokenSlug, transport: FleetTransport): boolean =>
  protocols.some((one) => one.slug === slug && one.transports.some((own) => (own === "udp") === (transport === "udp")));

/** Those whose devices can be simulated over the transport. */
export const fleetProtocolsOver = (transport: FleetTransport): readonly FleetProtocol[] => {
  const spoken = models.map(([slug]) => slug).filter((slug) => speaks(slug, transport));
  return spoken.length === 0 ? [] : [...spoken, "mixed"];
};

/** A device and its wearer. The same seed and number always give the same, so that the truth can be computed again later. */
export interface FleetMember extends Identity {
  number: number;
  name: string;
  protocol: SpokenSlug;
  modelSlug: string;
  person: Person;
}

export const maxFleetSize = 100_000;

export const rome: Omit<City, "utcOffsetMinutes"> = { lat: 41.9028, lng: 12.4964, mcc: 222, mnc: 1 };
export const romeTimezone = "Europe/Rome";

/** Luhn, over the 14 digits before it. */
export function checkDigit(digits: string): number {
  let sum = 0;
  for (const [index, digit] of [...digits].entries()) {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return (10 - (sum % 10)) % 10;
}

/** The seed is in the type code, the number in the serial: the short ids that some protocols make of digits 5 to 14 are unique in a fleet. */
function imeiOf(seed: number, number: number): string {
  const type = `35${String(hash(seed, "type code") % 1_000_000).padStart(6, "0")}`;
  const digits = type + String(number).padStart(6, "0");
  return digits + checkDigit(digits);
}

/** Numbers count from 1. */
export function fleetMember(
  seed: number,
  number: number,
  protocol: FleetProtocol,
  city: City,
  transport: FleetTransport = "tcp",
): FleetMember {
  const imei = imeiOf(seed, number);
  const choice = models.filter(([slug]) => (protocol === "mixed" ? speaks(slug, transport) : slug === protocol));
  const found = choice[(number - 1) % choice.length];
  if (found === undefined) throw new Error(`There is no virtual device for "${protocol}".`);
  const [own, [{ modelSlug }]] = found;
  return {
    imei,
    id: rulesOf(own).terminalIds.defaultFor(imei) ?? imei,
    number,
    name: `Simulated ${number}`,
    protocol: own,
    modelSlug,
    person: { seed: hash(seed, "person", number), city },
  };
}

export const makeFleet = (
  seed: number,
  count: number,
  protocol: FleetProtocol,
  city: City,
  transport: FleetTransport = "tcp",
): FleetMember[] =>
  Array.from({ length: count }, (_, index) => fleetMember(seed, index + 1, protocol, city, transport));

/** The device's side of a member's protocol, one for all members of a model. */
export function makeProtocols(
  transport: FleetTransport = "tcp",
): (member: Pick<FleetMember, "protocol" | "modelSlug">) => DeviceProtocol {
  const made = new Map<string, DeviceProtocol>();
  return ({ protocol, modelSlug }) => {
    const known = virtualProtocols[protocol];
    if (known === null) throw new Error(`There is no virtual device for "${protocol}".`);
    const model = known.find((one) => one.modelSlug === modelSlug) ?? known[0];
    const device = made.get(model.modelSlug) ?? model.make(transport);
    made.set(model.modelSlug, device);
    return device;
  };
}
