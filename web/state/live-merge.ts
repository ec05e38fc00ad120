import type { Event, FleetDevice } from "../api/types.ts";

/** What the stream says of a device. */
export type DeviceChange = Pick<FleetDevice, "uid"> &
  Partial<Pick<FleetDevice, "is_online" | "last_seen_at" | "last_location" | "last_status">>;

/** The device after a change; a change that is older than what was read changes nothing. */
export function withChange(device: FleetDevice, change: DeviceChange): FleetDevice {
  const isOlder = change.last_seen_at !== undefined && (change.last_seen_at ?? "") < (device.last_seen_at ?? "");
  return isOlder ? device : { ...device, ...change };
}

const severityRank: Readonly<Record<string, number>> = { critical: 0, warning: 1, info: 2 };

/** Critical ones first, and of each kind the oldest: who has waited longest. */
export const byUrgency = (a: Event, b: Event): number =>
  (severityRank[a.severity] ?? 3) - (severityRank[b.severity] ?? 3) || Date.parse(a.ts) - Date.parse(b.ts);

/** What asks for somebody: information needs no answer. */
export const isAlarm = (event: Event): boolean => !event.acknowledged && event.severity !== "info";

/** The queue of open alarms: what was read, with what has been raised and acknowledged since. */
export function mergeAlarms(
  rows: readonly Event[],
  added: readonly Event[],
  dropped: ReadonlySet<string>,
): readonly Event[] {
  const all = new Map([...rows, ...added].map((event) => [event.id, event]));
  return [...all.values()].filter((event) => isAlarm(event) && !dropped.has(event.id)).toSorted(byUrgency);
}
