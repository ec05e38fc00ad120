import { eventTypes, severities } from "../resources/events/event-types.ts";
import type { LastLocation } from "./device-memory.ts";
import type { EventOwner, EventRow } from "./ingest-rows.ts";

/** What the service observes of a device's connection. Such events have no time of the device and are not sent to partners. */
interface Observed {
  hold: EventOwner;
  id: Buffer;
  atMs: number;
  location: LastLocation | null;
}

/** Two networks take the connection of one device from each other (section 30). The addresses are shown to ADMINs only. */
export function sessionConflictEvent(observed: Observed, addresses: readonly [string, string]): EventRow {
  return {
    ...rowOf(observed),
    typeNumber: eventTypes.custom.number,
    severity: severities.warning,
    title: "Connection contested",
    message: "The connection of this device is repeatedly taken over from another network",
    data: { code: "session_conflict", addresses },
  };
}

export interface SimChange {
  /** The one reported now; null where only the IMSI is reported. */
  iccid: string | null;
  /** The login was refused, because the organization has pinned its SIMs. */
  isRefused: boolean;
}

export function simChangedEvent(observed: Observed, { iccid, isRefused }: SimChange): EventRow {
  const { number, severity, title } = eventTypes.sim_changed;
  return {
    ...rowOf(observed),
    typeNumber: number,
    severity: severities[severity],
    title,
    message: isRefused ? "A login with another SIM was refused" : title,
    data: { iccid, refused: isRefused },
  };
}

const rowOf = ({ hold, id, atMs, location }: Observed) => ({
  hold,
  id,
  tsMs: atMs,
  deviceTimeMs: null,
  receivedAtMs: atMs,
  location,
  outbound: null,
});
