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
  let ordered: StatedDevice[] = [];
  let placeOf: ReadonlyMap<string, number> = new Map();

  function arrange(known: ReadonlyMap<string, FleetDevice>): void {
    const before = ordered;
    const uids = sortByName(known);
    ordered = uids.map((uid) => {
      const device = known.get(uid) as FleetDevice;
      const entry = before[placeOf.get(uid) ?? -1];
      return entry?.device.name === device.name ? entry : { device, state: "offline" };
    });
    placeOf = new Map(uids.map((uid, place) => [uid, place]));
  }

  /** False: somebody has come, gone or got another name. */
  function update(known: ReadonlyMap<string, FleetDevice>, inAlarm: ReadonlySet<string>, nowMs: number): boolean {
    if (known.size !== ordered.length) return false;
    const oldest = staleBefore(nowMs);
    for (const [uid, device] of known) {
      const place = placeOf.get(uid) ?? -1;
      const before = ordered[place];
      if (before?.device.name !== device.name) return false;
      const state = stateOf(device, inAlarm.has(uid), nowMs, oldest);
      if (before.device !== device || before.state !== state) ordered[place] = { device, state };
    }
    return true;
  }

  return (known, inAlarm, nowMs) => {
    if (!update(known, inAlarm, nowMs)) {
      arrange(known);
      update(known, inAlarm, nowMs);
    }
    const groups: Record<DeviceState, StatedDevice[]> = { alarm: [], online: [], stale: [], offline: [] };
    for (const entry of ordered) groups[entry.state].push(entry);
    return shownOrder.flatMap((state) => groups[state]);
  };
}

function sortByName(known: ReadonlyMap<string, FleetDevice>): string[] {
  const keyed = [...known.values()].map(({ uid, name }) => ({ uid, key: sortKey(name === "" ? uid : name) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.uid < b.uid ? -1 : 1));
  return keyed.map(({ uid }) => uid);
}
