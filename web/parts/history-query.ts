import type { Device } from "../api/types.ts";
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

export interface MeantDevices {
  count: number;
  /** The only one. */
  uid: string | undefined;
}

/** Of the devices that were found for what somebody wrote, those that are meant: one by its whole name before those that contain it. */
export function meantDevices(
  { count = 0, results }: { count?: number; results: readonly Pick<Device, "uid" | "name">[] },
  search: string,
): MeantDevices {
  const wanted = search.trim().toLowerCase();
  const exact = results.filter(({ name, uid }) => name.toLowerCase() === wanted || uid === wanted);
  const meant = exact.length > 0 ? exact : results;
  return { count: exact.length > 0 ? exact.length : count, uid: meant.length === 1 ? meant[0]?.uid : undefined };
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
