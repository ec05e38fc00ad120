import type { FleetDevice } from "../api/types.ts";
import { matches } from "./fleet-states.ts";
import { addDays, startOfDay } from "./time-view.ts";

export interface HistoryFilter {
  severity: string;
  state: string;
  kind: string;
  /** Calendar days of the reader; empty: no bound. */
  from: string;
  until: string;
  search: string;
}

/** The devices that somebody may mean by what they wrote; undefined: nothing was written. */
export function wantedDevices(known: ReadonlyMap<string, FleetDevice>, search: string): FleetDevice[] | undefined {
  const wanted = search.trim().toLowerCase();
  if (wanted === "") return undefined;
  const found = [...known.values()].filter((device) => matches(device, wanted));
  const exact = found.filter(({ name, uid }) => name.toLowerCase() === wanted || uid === wanted);
  return exact.length > 0 ? exact : found;
}

const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text);

/** The address of the events that a filter means, newest first. */
export function historyPath(filter: HistoryFilter, deviceUid: string | undefined, zone: string): string {
  const query = new URLSearchParams({ page_size: "50", ordering: "-ts" });
  if (filter.severity !== "") query.set("severity", filter.severity);
  if (filter.state !== "") query.set("acknowledged", String(filter.state === "acknowledged"));
  if (filter.kind !== "") query.set("event_type", filter.kind);
  if (deviceUid !== undefined) query.set("device_uid", deviceUid);
  const iso = (day: string): string => new Date(startOfDay(day, zone)).toISOString();
  if (isDay(filter.from)) query.set("ts_after", iso(filter.from));
  if (isDay(filter.until)) query.set("ts_before", iso(addDays(filter.until, 1)));
  return `/api/v1/events/?${query}`;
}
