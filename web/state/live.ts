import { getAll } from "../api/client.ts";
import { openStream, type Stream } from "../api/stream.ts";
import type { Event, EventDetail } from "../api/types.ts";
import { addDone, justDone } from "./done.ts";
import { forgetFences } from "./fences.ts";
import { applyDevice, forgetFleet, loadFleet, nameDevices } from "./fleet.ts";
import { type DeviceChange, mergeAlarms } from "./live-merge.ts";
import { makeReader } from "./reader.ts";
import { makeStore } from "./store.ts";

/**
 * The alarms nobody has acknowledged, and the stream that all pages follow. Alarms are read once, and again after anything that may
 * have been missed. What the stream says meanwhile is kept and put over what was read.
 */
export const openAlarms = makeStore<readonly Event[]>([]);
export const areAlarmsLoaded = makeStore(false);

let stream: Stream | undefined;
export const currentStream = (): Stream | undefined => stream;

export const onNewAlarm = new Set<(event: Event) => void>();
/** Of many that are found at once, as after a night without a connection, these few ring. */
const maxRinging = 3;

/** What the stream has said of alarms since the list was asked for. */
let alarmChanges: { added: Event[]; dropped: Set<string> } | undefined;

async function readAlarms(isCurrent: () => boolean): Promise<void> {
  const changes = { added: [], dropped: new Set<string>() };
  alarmChanges = changes;
  const rows = await getAll<Event>("/api/v1/events/?acknowledged=false&severity=critical,warning&page_size=200");
  if (!isCurrent()) return;
  alarmChanges = undefined;
  const known = new Set(openAlarms.get().map(({ id }) => id));
  const next = mergeAlarms(rows, changes.added, changes.dropped);
  showAlarms(next);
  areAlarmsLoaded.set(true);
  for (const event of next.filter(({ id }) => !known.has(id)).slice(0, maxRinging)) tellNew(event);
}

const reader = makeReader(readAlarms);
export const alarmFailure = reader.failure;

/** Reads again everything that pages show of alarms and devices. */
export function reloadLive(): void {
  void reader.run();
  void loadFleet();
}

function showAlarms(alarms: readonly Event[]): void {
  void nameDevices(alarms.map(({ device_uid }) => device_uid));
  openAlarms.set(alarms);
}

const tellNew = (event: Event): void => {
  for (const listener of onNewAlarm) listener(event);
};

function addEvent(event: Event): void {
  alarmChanges?.added.push(event);
  if (openAlarms.get().some(({ id }) => id === event.id)) return;
  const next = mergeAlarms(openAlarms.get(), [event], new Set());
  if (next.length === openAlarms.get().length) return;
  showAlarms(next);
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
    const event = data as EventDetail;
    dropAlarm(event.id);
    void nameDevices([event.device_uid]);
    addDone(event);
  });
  stream.on("resync", reloadLive);
  reloadLive();
}

export function stopLive(): void {
  stream?.close();
  stream = undefined;
  reader.stop();
  alarmChanges = undefined;
  areAlarmsLoaded.set(false);
  openAlarms.set([]);
  forgetFleet();
  justDone.set([]);
  forgetFences();
}
