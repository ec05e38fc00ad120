import { getAll } from "../api/client.ts";
import { openStream, type Stream } from "../api/stream.ts";
import type { Device, Event } from "../api/types.ts";
import { makeStore } from "./store.ts";

/**
 * What the console knows of the fleet: all devices the person may see, and the alarms nobody has acknowledged. Both are read once
 * and then follow the stream; after anything that may have been missed they are read again.
 */
export const devices = makeStore<ReadonlyMap<string, Device>>(new Map());
export const openAlarms = makeStore<readonly Event[]>([]);
export const isLoaded = makeStore(false);

let stream: Stream | undefined;
export const currentStream = (): Stream | undefined => stream;

const severityRank: Readonly<Record<string, number>> = { critical: 0, warning: 1, info: 2 };

/** Critical ones first, and of each kind the oldest: who has waited longest. */
export const byUrgency = (a: Event, b: Event): number =>
  (severityRank[a.severity] ?? 3) - (severityRank[b.severity] ?? 3) || Date.parse(a.ts) - Date.parse(b.ts);

/** What asks for somebody: information needs no answer. */
export const isAlarm = (event: Event): boolean => !event.acknowledged && event.severity !== "info";

async function loadAlarms(): Promise<void> {
  const rows = await getAll<Event>("/api/v1/events/?acknowledged=false&severity=critical,warning&page_size=200");
  openAlarms.set(rows.filter(isAlarm).toSorted(byUrgency));
}

async function loadDevices(): Promise<void> {
  const found = new Map<string, Device>();
  await getAll<Device>("/api/v1/devices/?page_size=200", (rows) => {
    for (const device of rows) found.set(device.uid, device);
    // The first page is shown at once, the rest when it is complete.
    if (!isLoaded.get()) devices.set(new Map(found));
  });
  devices.set(found);
}

export async function loadFleet(): Promise<void> {
  await Promise.all([loadAlarms(), loadDevices()]);
  isLoaded.set(true);
}

/** Changes of many devices a second are shown together, once a frame. */
let waiting: Map<string, Partial<Device>> | undefined;
function applyDevice(change: Partial<Device> & { uid: string }): void {
  if (waiting) {
    waiting.set(change.uid, { ...waiting.get(change.uid), ...change });
    return;
  }
  waiting = new Map([[change.uid, change]]);
  setTimeout(() => {
    const changes = waiting as Map<string, Partial<Device>>;
    waiting = undefined;
    devices.update((known) => {
      const next = new Map(known);
      for (const [uid, fields] of changes) {
        const before = next.get(uid);
        if (before) next.set(uid, { ...before, ...fields });
      }
      return next;
    });
  }, 250);
}

export const onNewAlarm = new Set<(event: Event) => void>();

function addEvent(event: Event): void {
  if (!isAlarm(event) || openAlarms.get().some(({ id }) => id === event.id)) return;
  openAlarms.update((known) => [...known, event].toSorted(byUrgency));
  for (const listener of onNewAlarm) listener(event);
}

export function dropAlarm(id: string): void {
  openAlarms.update((known) => known.filter((one) => one.id !== id));
}

export function startLive(): void {
  if (stream) return;
  stream = openStream();
  stream.on("device", (data) => applyDevice(data as Partial<Device> & { uid: string }));
  stream.on("event", (data) => addEvent(data as Event));
  stream.on("event_acknowledged", (data) => dropAlarm((data as Event).id));
  stream.on("resync", () => void loadFleet());
  void loadFleet();
}

export function stopLive(): void {
  stream?.close();
  stream = undefined;
  isLoaded.set(false);
  devices.set(new Map());
  openAlarms.set([]);
}
