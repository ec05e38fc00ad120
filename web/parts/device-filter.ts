import type { FleetDevice } from "../api/types.ts";
import type { DeviceState } from "../state/device-state.ts";

export interface StatedDevice {
  device: FleetDevice;
  state: DeviceState;
}

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
}

/** A value of the address, which anybody can write, as one of those that are known; else the first. */
export const oneOf = <T extends string>(known: readonly T[], given: string | null): T =>
  known.find((one) => one === given) ?? (known[0] as T);

const lowPercent = 20;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export const batteryOf = (device: FleetDevice): number | undefined => device.last_status.bat?.value;
export const isLow = (percent: number | undefined): boolean => percent !== undefined && percent < lowPercent;

function fitsBattery(device: FleetDevice, wanted: BatteryFilter): boolean {
  const percent = batteryOf(device);
  if (wanted === "unknown") return percent === undefined;
  if (wanted === "low") return isLow(percent);
  return wanted === "" || (percent !== undefined && percent < 50);
}

function fitsSeen({ last_seen_at }: FleetDevice, wanted: SeenFilter, nowMs: number): boolean {
  if (wanted === "") return true;
  if (last_seen_at === null) return wanted === "never";
  const ageMs = nowMs - Date.parse(last_seen_at);
  if (wanted === "older") return ageMs > dayMs;
  return wanted !== "never" && ageMs <= (wanted === "hour" ? hourMs : dayMs);
}

/** By name, IMEI, model, tag and the people who hold it; `wanted` is in small letters. */
export const matches = ({ name, uid, device_model_name, tags, people }: FleetDevice, wanted: string): boolean =>
  [name, uid, device_model_name, ...tags, ...people].some((text) => text.toLowerCase().includes(wanted));

export function filterDevices(
  fleet: readonly StatedDevice[],
  { search, state, battery, seen }: DeviceFilter,
  nowMs: number,
): StatedDevice[] {
  const wanted = search.trim().toLowerCase();
  return fleet.filter(
    (one) =>
      (wanted === "" || matches(one.device, wanted)) &&
      (state === "" || one.state === state) &&
      fitsBattery(one.device, battery) &&
      fitsSeen(one.device, seen, nowMs),
  );
}

const stateRank: Readonly<Record<DeviceState, number>> = { alarm: 0, offline: 1, stale: 2, online: 3 };

/** What needs somebody comes first: alarms, the emptiest battery, who was seen longest ago; what is unknown comes last. */
const comparisons: Readonly<Record<Order, (a: StatedDevice, b: StatedDevice) => number>> = {
  name: () => 0,
  state: (a, b) => stateRank[a.state] - stateRank[b.state],
  battery: (a, b) => (batteryOf(a.device) ?? 101) - (batteryOf(b.device) ?? 101),
  seen: (a, b) => seenMs(a.device) - seenMs(b.device),
};

const seenMs = ({ last_seen_at }: FleetDevice): number =>
  last_seen_at === null ? Number.MAX_SAFE_INTEGER : Date.parse(last_seen_at);

/** "Watch 2" comes before "Watch 10". */
const collator = new Intl.Collator(undefined, { numeric: true });

export const byName = (a: Pick<FleetDevice, "name" | "uid">, b: Pick<FleetDevice, "name" | "uid">): number =>
  collator.compare(a.name, b.name) || collator.compare(a.uid, b.uid);

export const sortDevices = (fleet: readonly StatedDevice[], order: Order): StatedDevice[] =>
  fleet.toSorted((a, b) => comparisons[order](a, b) || byName(a.device, b.device));

/** What somebody typed, one tag after the other with commas between them, without repetition. */
export const parseTags = (text: string): string[] => [
  ...new Set(
    text
      .split(",")
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ""),
  ),
];
