import type { Device } from "../api/types.ts";

export const stateFilters = ["", "alarm", "online", "stale", "offline"] as const;
export const batteryFilters = ["", "low", "half", "unknown"] as const;
export const seenFilters = ["", "hour", "day", "older", "never"] as const;
export const orders = ["name", "state", "battery", "seen"] as const;

export type StateFilter = (typeof stateFilters)[number];
export type BatteryFilter = (typeof batteryFilters)[number];
export type SeenFilter = (typeof seenFilters)[number];
export type Order = (typeof orders)[number];

export interface DeviceFilter {
  search: string;
  state: StateFilter;
  battery: BatteryFilter;
  seen: SeenFilter;
  order: Order;
}

/** A value of the address, which anybody can write, as one of those that are known; else the first. */
export const oneOf = <T extends string>(known: readonly T[], given: string | null): T =>
  known.find((one) => one === given) ?? (known[0] as T);

const lowPercent = 20;

export const batteryOf = (device: Device): number | undefined => device.last_status.bat?.value;
export const isLow = (percent: number | undefined): boolean => percent !== undefined && percent < lowPercent;

/** What needs somebody comes first: who is not online, the emptiest battery, who was seen longest ago. */
const orderings: Readonly<Record<Order, string>> = {
  name: "name",
  state: "is_online",
  battery: "battery",
  seen: "last_seen_at",
};

/** The parameters with which the service finds these devices. */
export function listQuery({ search, state, battery, seen, order }: DeviceFilter): string {
  const given = { search: search.trim(), state, battery, seen };
  const query = new URLSearchParams(Object.entries(given).filter(([, value]) => value !== ""));
  query.set("ordering", orderings[order]);
  return query.toString();
}

/** "Watch 2" comes before "Watch 10". */
const collator = new Intl.Collator(undefined, { numeric: true });

export const byName = (a: Device, b: Device): number =>
  collator.compare(a.name, b.name) || collator.compare(a.uid, b.uid);

/** What somebody typed, one tag after the other with commas between them, without repetition. */
export const parseTags = (text: string): string[] => [
  ...new Set(
    text
      .split(",")
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ""),
  ),
];
