import { useEffect } from "preact/hooks";
import { get } from "../api/client.ts";
import type { FleetDevice, FleetPage } from "../api/types.ts";
import { type DeviceChange, withChange } from "./live-merge.ts";
import { makeReader } from "./reader.ts";
import { makeStore, useStore } from "./store.ts";

/**
 * What the console knows of devices. A page that shows the whole fleet asks for it, and it is read once; all others ask for the
 * devices they name, so that the queue of alarms does not wait for 20,000 devices that it never shows. Both follow the stream.
 * What the stream says during a read is put over what was read, since one does not know which of both is newer.
 */
export const devices = makeStore<ReadonlyMap<string, FleetDevice>>(new Map());
/** The whole fleet is there. */
export const isLoaded = makeStore(false);

/** Few devices are shown as they change; many together, so that the page stays free for the person. */
const smallFleet = 1000;
const drawEveryMs = { small: 250, large: 1000 } as const;
const idsAtOnce = 200;

/** A page has asked for the whole fleet; how many show it now. */
let isWanted = false;
let watcherCount = 0;
/** What pages have named, known or on its way. */
let named = new Set<string>();
/** Changes that wait to be shown, and for each read under way those since it began. */
let waiting = new Map<string, DeviceChange>();
const underWay = new Set<Map<string, DeviceChange>>();
let drawTimer: ReturnType<typeof setTimeout> | undefined;

/** Runs a read and gives it what the stream says meanwhile. */
async function withChanges<T>(read: (changes: ReadonlyMap<string, DeviceChange>) => Promise<T>): Promise<T> {
  const changes = new Map<string, DeviceChange>();
  underWay.add(changes);
  try {
    return await read(changes);
  } finally {
    underWay.delete(changes);
  }
}

const current = (device: FleetDevice, changes: ReadonlyMap<string, DeviceChange>): FleetDevice => {
  const change = changes.get(device.uid);
  return change ? withChange(device, change) : device;
};

const readFleet = (isCurrent: () => boolean): Promise<void> =>
  withChanges(async (changes) => {
    const found = new Map<string, FleetDevice>();
    for (let after: string | null = ""; after !== null; ) {
      const page: FleetPage = await get<FleetPage>(`/console/api/fleet/?after=${after}`);
      if (!isCurrent()) return;
      for (const device of page.results) found.set(device.uid, device);
      after = page.next;
      // The first page is shown at once, the rest when it is complete: to sort and draw all of it twenty times takes longer.
      const isFirst = found.size === page.results.length;
      if (isFirst && after !== null && !isLoaded.get()) devices.update((known) => new Map([...found, ...known]));
    }
    for (const [uid, device] of found) found.set(uid, current(device, changes));
    devices.set(found);
    isLoaded.set(true);
  });

async function readNamed(uids: readonly string[], isCurrent: () => boolean): Promise<void> {
  for (let start = 0; start < uids.length; start += idsAtOnce) {
    const some = uids.slice(start, start + idsAtOnce).join();
    await withChanges(async (changes) => {
      const { results } = await get<FleetPage>(`/console/api/fleet/?uid=${some}`);
      if (!isCurrent()) return;
      devices.update((known) => {
        const next = new Map(known);
        for (const device of results) next.set(device.uid, current(device, changes));
        return next;
      });
    });
  }
}

const reader = makeReader((isCurrent) => (isWanted ? readFleet(isCurrent) : readNamed([...named], isCurrent)));
export const fleetFailure = reader.failure;
/** Reads again whatever the pages have asked for. */
export const loadFleet = (): Promise<void> => reader.run();

/** Reads the devices that a page names and that are not known yet. A failure leaves their IMEIs in place of their names. */
export async function nameDevices(uids: Iterable<string>): Promise<void> {
  const asked = named;
  const fresh = [...new Set(uids)].filter((uid) => !asked.has(uid) && !devices.get().has(uid));
  if (fresh.length === 0) return;
  for (const uid of fresh) asked.add(uid);
  // After somebody has signed out the names are those of somebody else.
  await readNamed(fresh, () => asked === named).catch(() => {
    for (const uid of fresh) asked.delete(uid);
  });
}

function watchFleet(): () => void {
  watcherCount++;
  if (!isWanted) {
    isWanted = true;
    void loadFleet();
  }
  return () => {
    watcherCount--;
  };
}

/** All devices one may see. */
export function useFleet(): ReadonlyMap<string, FleetDevice> {
  useEffect(watchFleet, []);
  return useStore(devices);
}

/** The devices that one names, as far as they are known. */
export function useDevices(uids: readonly string[]): ReadonlyMap<string, FleetDevice> {
  useEffect(() => void nameDevices(uids), [uids.join()]);
  return useStore(devices);
}

function showChanges(): void {
  drawTimer = undefined;
  const changes = waiting;
  waiting = new Map();
  const unknown: string[] = [];
  const next = new Map(devices.get());
  for (const [uid, change] of changes) {
    const before = next.get(uid);
    if (before) next.set(uid, withChange(before, change));
    else unknown.push(uid);
  }
  devices.set(next);
  // Devices that somebody has just registered or assigned.
  if (unknown.length > idsAtOnce) void loadFleet();
  else if (isLoaded.get()) void nameDevices(unknown);
}

/** What the stream says of a device. */
export function applyDevice(change: DeviceChange): void {
  const { uid } = change;
  for (const changes of underWay) changes.set(uid, { ...changes.get(uid), ...change });
  if (!isWanted && !devices.get().has(uid)) return;
  waiting.set(uid, { ...waiting.get(uid), ...change });
  drawTimer ??= setTimeout(showChanges, devices.get().size > smallFleet ? drawEveryMs.large : drawEveryMs.small);
}

/** After somebody has signed out. The page of who signs in next may be there already. */
export function forgetFleet(): void {
  reader.stop();
  clearTimeout(drawTimer);
  drawTimer = undefined;
  isWanted = watcherCount > 0;
  named = new Set();
  waiting = new Map();
  isLoaded.set(false);
  devices.set(new Map());
}
