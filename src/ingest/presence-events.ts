import { formatUuid } from "../lib/ids.ts";
import { type EnvelopedPresence, presenceData } from "../resources/events/event-envelope.ts";
import { eventTypes, severities } from "../resources/events/event-types.ts";
import type { LastLocation } from "./device-memory.ts";
import type { BatchRows, EventOwner, EventRow } from "./ingest-rows.ts";
import type { PresenceChange } from "./state-store.ts";

export interface PresenceFact {
  hold: EventOwner;
  /** The device's, or its IMEI: what people call it. */
  name: string;
  reason: EnvelopedPresence["reason"];
  atMs: number;
  lastSeenMs: number | null;
  previousMs: number | null;
  location: LastLocation | null;
}

const isoOrNull = (timeMs: number | null): string | null => (timeMs === null ? null : new Date(timeMs).toISOString());

/** What the server observes has no time of the device (section 7). */
export function presenceEvent(fact: PresenceFact, id: Buffer): EventRow {
  const { hold, name, reason, atMs, lastSeenMs, previousMs, location } = fact;
  const isOnline = reason === "connected";
  const { number, severity, title } = eventTypes[isOnline ? "device_online" : "device_offline"];
  return {
    hold,
    id,
    typeNumber: number,
    severity: severities[severity],
    tsMs: atMs,
    deviceTimeMs: null,
    receivedAtMs: atMs,
    title,
    message: `${name} is ${isOnline ? "online" : "offline"}`,
    location,
    data: { reason },
    outbound: presenceData(formatUuid(id), {
      isOnline,
      reason,
      lastSeenAt: isoOrNull(lastSeenMs),
      previousChangeAt: isoOrNull(previousMs),
    }),
  };
}

/** What the packets of a batch say of presence: a device's coming before everything else they say, its going after it. */
export function addPresenceEvents(
  rows: BatchRows,
  changes: readonly PresenceChange[],
  nameOf: (hold: EventOwner) => string,
  newId: (nowMs: number) => Buffer,
): void {
  const first: EventRow[] = [];
  const last: EventRow[] = [];
  let previous: EventOwner | undefined;
  for (const { hold, isOnline, atMs, previousMs } of changes) {
    const reason = isOnline ? "connected" : "power_off";
    const location = hold.memory.lastLocation;
    const fact = { hold, name: nameOf(hold), reason, atMs, lastSeenMs: atMs, previousMs, location } as const;
    (isOnline && hold !== previous ? first : last).push(presenceEvent(fact, newId(atMs)));
    previous = hold;
  }
  rows.events = [...first, ...rows.events, ...last];
}
