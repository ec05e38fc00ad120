import type { OutboundEntry } from "../outbox/outbound-entry.ts";
import type { PlaceJob } from "../places/place-job.ts";
import type { EnvelopedLocation } from "../resources/locations/location-envelope.ts";
import type { DeviceHold, IngestDevice, LastLocation, LastStatus } from "./device-memory.ts";
import type { InvalidReason } from "./rules/fix-rules.ts";

/** What a batch writes, before it becomes bytes. Times are milliseconds; `hold` gives device and organization. */

export interface LocationRow extends EnvelopedLocation {
  hold: DeviceHold;
  id: Buffer;
  source: "gps";
  invalidReason: InvalidReason | null;
  mcc: number | null;
  mnc: number | null;
}

export interface TelemetryRow {
  hold: DeviceHold;
  id: Buffer;
  receivedAtMs: number;
  deviceTimeMs: number | null;
  data: Record<string, unknown>;
}

/** Whose event it is. Events are also made for devices that are not connected. */
export interface EventOwner {
  readonly device: IngestDevice;
  readonly deviceIdBytes: Buffer;
  readonly organizationIdBytes: Buffer;
}

export interface EventRow {
  hold: EventOwner;
  id: Buffer;
  typeNumber: number;
  severity: number;
  tsMs: number;
  deviceTimeMs: number | null;
  receivedAtMs: number;
  title: string;
  message: string;
  location: LastLocation | null;
  data: Record<string, unknown>;
  /** Of events made by a fence or a threshold. */
  fence?: { id: string; name: string };
  threshold?: { id: string; metricKey: string; value: number };
  /** `data` of the outbound event; null when the type is not sent to partners. */
  outbound: Readonly<Record<string, unknown>> | null;
}

export interface PlaceJobRow {
  hold: DeviceHold;
  id: Buffer;
  kind: "locate" | "address";
  payload: PlaceJob["payload"];
  createdAtMs: number;
}

/** A fix that was stored as valid and turned out to be an outlier. */
export interface JumpMark {
  hold: DeviceHold;
  id: Buffer;
  tsMs: number;
}

/** From this packet on the device was online, or offline. */
export interface PresenceStep {
  isOnline: boolean;
  atMs: number;
}

/** What all new packets of one device change in its state row. */
export interface StateRow {
  hold: DeviceHold;
  /** One for all packets, unless some of them say that the device is switched off. */
  presence: PresenceStep[];
  lastSeenMs: number;
  /** The whole of it, or only what is new where packets are stored beside a connection; null: no reading was among them. */
  status: LastStatus | null;
  /** Of the reading that was the newest of the battery; null: none. */
  battery: number | null;
  /** With its time as a number beside it. */
  lastLocation: LastLocation | null;
  locatedMs: number | null;
  newestReportMs: number | null;
  firmware: string | null;
}

export interface BatchRows {
  locations: LocationRow[];
  telemetry: TelemetryRow[];
  events: EventRow[];
  placeJobs: PlaceJobRow[];
  jumps: JumpMark[];
  states: StateRow[];
  /** Outbound events other than those of locations, readings and events, whose outbound rows follow from their own. */
  outbound: OutboundEntry[];
}

export const noRows = (): BatchRows => ({
  locations: [],
  telemetry: [],
  events: [],
  placeJobs: [],
  jumps: [],
  states: [],
  outbound: [],
});
