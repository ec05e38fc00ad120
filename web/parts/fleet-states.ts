import type { FleetDevice } from "../api/types.ts";
import { type DeviceState, staleBefore, stateOf } from "../state/device-state.ts";

export interface StatedDevice {
  device: FleetDevice;
  state: DeviceState;
}

/** By name, IMEI, model, tag and the people who hold it; `wanted` is in small letters. */
export const matches = ({ name, uid, device_model_name, tags, people }: FleetDevice, wanted: string): boolean =>
  [name, uid, device_model_name, ...tags, ...people].some((text) => text.toLowerCase().includes(wanted));

/** The order of the list beside the map. */
const shownOrder: readonly DeviceState[] = ["alarm", "online", "stale", "offline"];

/**
 * By what names are sorted: "Watch 2" before "Watch 10", capitals and accents alike. Keys are made once
 * for each name, while a collator works at every comparison.
 */
export const sortKey = (name: string): string =>
  name
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/\d+/g, (digits) => digits.padStart(12, "0"));

export type StateFleet = (
  known: ReadonlyMap<string, FleetDevice>,
  inAlarm: ReadonlySet<string>,
  nowMs: number,
) => readonly StatedDevice[];

/**
 * The fleet with the state of each device, alarms first and then by name. A device that has not changed is the same object as the
 * last time, so that the map knows what to draw; names are sorted anew only when one has changed.
 */
export function makeStateFleet(): StateFleet {
  let entries: ReadonlyMap<string, StatedDevice> = new Map();
  let byName: readonly string[] = [];

  return (known, inAlarm, nowMs) => {
    const oldest = staleBefore(nowMs);
    const next = new Map<string, StatedDevice>();
    let isSameOrder = entries.size === known.size;
    for (const [uid, device] of known) {
      const before = entries.get(uid);
      const state = stateOf(device, inAlarm.has(uid), nowMs, oldest);
      if (before?.device.name !== device.name) isSameOrder = false;
      next.set(uid, before && before.device === device && before.state === state ? before : { device, state });
    }
    entries = next;
    if (!isSameOrder) byName = sortByName(known);
    const groups: Record<DeviceState, StatedDevice[]> = { alarm: [], online: [], stale: [], offline: [] };
    for (const uid of byName) {
      const entry = next.get(uid);
      if (entry) groups[entry.state].push(entry);
    }
    return shownOrder.flatMap((state) => groups[state]);
  };
}

function sortByName(known: ReadonlyMap<string, FleetDevice>): string[] {
  const keyed = [...known.values()].map(({ uid, name }) => ({ uid, key: sortKey(name === "" ? uid : name) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.uid < b.uid ? -1 : 1));
  return keyed.map(({ uid }) => uid);
}
