import { get, getAll } from "../api/client.ts";
import { openStream, type Stream } from "../api/stream.ts";
import type { Device, Event, EventDetail, FleetDevice, FleetPage } from "../api/types.ts";
import { addDone, justDone } from "./done.ts";
import { forgetFences } from "./fences.ts";
import { type DeviceChange, mergeAlarms, withChange } from "./live-merge.ts";
import { makeStore } from "./store.ts";

/**
 * What the console knows of the fleet: all devices the person may see, and the alarms nobody has acknowledged. Both are read once
 * and then follow the stream; after anything that may have been missed they are read again. What the stream says meanwhile is
 * kept and put over what was read, since one does not know which of both is newer.
 */
export const devices = makeStore<ReadonlyMap<string, FleetDevice>>(new Map());
export const openAlarms = makeStore<readonly Event[]>([]);
export const areAlarmsLoaded = makeStore(false);
export const isLoaded = makeStore(false);
/** Why the fleet could not be read; it is tried again until it can. */
export const loadFailure = makeStore<unknown>(undefined);

let stream: Stream | undefined;
export const currentStream = (): Stream | undefined => stream;

const retryMs = 5000;
/** Few devices are shown as they change; many together, so that the page stays free for the person. */
const smallFleet = 1000;
const drawEveryMs = { small: 250, large: 1000 } as const;
const maxUnknown = 20;

export const onNewAlarm = new Set<(event: Event) => void>();
/** Of many that are found at once, as after a night without a connection, these few ring. */
const maxRinging = 3;

/** What the stream has said of alarms since the list was asked for. */
let alarmChanges: { added: Event[]; dropped: Set<string> } | undefined;

async function loadAlarms(): Promise<void> {
  const changes = { added: [], dropped: new Set<string>() };
  alarmChanges = changes;
  const rows = await getAll<Event>("/api/v1/events/?acknowledged=false&severity=critical,warning&page_size=200");
  if (alarmChanges !== changes) return;
  alarmChanges = undefined;
  const known = new Set(openAlarms.get().map(({ id }) => id));
  const next = mergeAlarms(rows, changes.added, changes.dropped);
  openAlarms.set(next);
  areAlarmsLoaded.set(true);
  for (const event of next.filter(({ id }) => !known.has(id)).slice(0, maxRinging)) tellNew(event);
}

const tellNew = (event: Event): void => {
  for (const listener of onNewAlarm) listener(event);
};

/** Changes that wait to be shown, and those that came while the fleet was being read. */
let waiting = new Map<string, DeviceChange>();
let sinceRead: Map<string, DeviceChange> | undefined;
let drawTimer: ReturnType<typeof setTimeout> | undefined;

async function loadDevices(): Promise<void> {
  const changes = new Map<string, DeviceChange>();
  sinceRead = changes;
  const found = new Map<string, FleetDevice>();
  for (let after: string | null = ""; after !== null; ) {
    const page: FleetPage = await get<FleetPage>(`/console/api/fleet/?after=${after}`);
    for (const device of page.results) found.set(device.uid, device);
    after = page.next;
    if (sinceRead !== changes) return;
    // The first page is shown at once, the rest when it is complete.
    if (!isLoaded.get() && devices.get().size === 0) devices.set(new Map(found));
  }
  sinceRead = undefined;
  for (const [uid, change] of changes) {
    const device = found.get(uid);
    if (device) found.set(uid, withChange(device, change));
  }
  devices.set(found);
}

let loadRound = 0;
/** Reads everything, until it has worked or somebody asks anew. */
export async function loadFleet(): Promise<void> {
  loadRound++;
  const round = loadRound;
  while (round === loadRound) {
    try {
      await Promise.all([loadAlarms(), loadDevices()]);
      if (round !== loadRound) return;
      loadFailure.set(undefined);
      isLoaded.set(true);
      return;
    } catch (error) {
      if (round === loadRound) loadFailure.set(error);
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

/** A device that somebody has just registered or assigned. */
async function loadUnknown(uids: readonly string[]): Promise<void> {
  if (uids.length > maxUnknown) return loadDevices();
  const found = await Promise.all(uids.map((uid) => get<Device>(`/api/v1/devices/${uid}/`)));
  devices.update((known) => {
    const next = new Map(known);
    for (const device of found) next.set(device.uid, { ...device, people: [] });
    return next;
  });
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
  if (unknown.length > 0 && isLoaded.get()) loadUnknown(unknown).catch(() => undefined);
}

function applyDevice(change: DeviceChange): void {
  sinceRead?.set(change.uid, { ...sinceRead.get(change.uid), ...change });
  waiting.set(change.uid, { ...waiting.get(change.uid), ...change });
  drawTimer ??= setTimeout(showChanges, devices.get().size > smallFleet ? drawEveryMs.large : drawEveryMs.small);
}

function addEvent(event: Event): void {
  alarmChanges?.added.push(event);
  if (openAlarms.get().some(({ id }) => id === event.id)) return;
  const next = mergeAlarms(openAlarms.get(), [event], new Set());
  if (next.length === openAlarms.get().length) return;
  openAlarms.set(next);
  tellNew(event);
}

export function dropAlarm(id: string): void {
  alarmChanges?.dropped.add(id);
  openAlarms.update((known) => known.filter((one) => one.id !== id));
}

export function startLive(): void {
  if (stream) return;
  stream = openStream();
  stream.on("device", (data) => applyDevice(data as DeviceChange));
  stream.on("event", (data) => addEvent(data as Event));
  stream.on("event_acknowledged", (data) => {
    dropAlarm((data as EventDetail).id);
    addDone(data as EventDetail);
  });
  stream.on("resync", () => void loadFleet());
  void loadFleet();
}

export function stopLive(): void {
  stream?.close();
  stream = undefined;
  loadRound++;
  clearTimeout(drawTimer);
  drawTimer = undefined;
  waiting = new Map();
  sinceRead = undefined;
  alarmChanges = undefined;
  isLoaded.set(false);
  areAlarmsLoaded.set(false);
  loadFailure.set(undefined);
  devices.set(new Map());
  openAlarms.set([]);
  justDone.set([]);
  forgetFences();
}
