import type { Point } from "../lib/geo.ts";
import type { LastKnownLocation } from "../resources/events/event-location.ts";
import type { KeptMemory } from "./kept-memory.ts";
import type { RuleView } from "./rules/organization-rules.ts";
import type { RuleMemory } from "./rules/rule-memory.ts";
import type { WaitingLine } from "./waiting-packets.ts";

/** What ingest must know of a device, as it was accepted at login. */
export interface IngestDevice {
  id: string;
  organizationId: string;
  uid: string;
  name: string;
}

export interface RecentFix extends Point {
  id: Buffer;
  tsMs: number;
  accuracyM: number | null;
}

export interface RecentAlarm {
  /** Alarm type; with its code for those that have no type of their own. */
  key: string;
  receivedAtMs: number;
  tsMs: number;
}

export type LastLocation = LastKnownLocation;

/** The last plausible value of each metric, as partners read it. */
export type LastStatus = Readonly<Record<string, { value: number; ts: string | null } | undefined>>;

/** Read at login, moved on by each committed packet, in place (kept-memory.ts). An attempt that fails leaves it as it was. */
export interface DeviceMemory {
  /** The two newest valid fixes, the newest last. */
  fixes: readonly RecentFix[];
  /** First packets of the alarms of the last minute. */
  alarms: readonly RecentAlarm[];
  lastLocation: LastLocation | null;
  status: LastStatus;
  /** When the latest packet came; null: none has since the login. */
  lastSeenMs: number | null;
  /** The latest time of the device's clock in any report that was stored; null: not known. */
  newestReportMs: number | null;
  /** Of the state that the rules below hold; another one in the database: somebody else has moved it. */
  ruleVersion: number;
  rules: RuleMemory;
}

export const batteryOf = ({ status }: Pick<DeviceMemory, "status">): number | null => status.bat?.value ?? null;

/**
 * - `idle`: no frame of it is being stored.
 * - `storing`: a batch that is being stored has frames of it.
 * - `moved`: storing too; somebody else has moved the rules, so they are read again before the next attempt.
 * - `over`: a newer connection of this process has the device. What waits of this one need not be tried, and what is being
 *   stored of it finds the newer epoch.
 */
export type HoldState = "idle" | "storing" | "moved" | "over";

/** One connection's hold on a device. Frames of one hold are stored in the order of their submission. */
export interface DeviceHold {
  readonly device: IngestDevice;
  readonly deviceIdBytes: Buffer;
  readonly organizationIdBytes: Buffer;
  readonly epoch: number;
  memory: DeviceMemory;
  /**
   * Set where packets of a device are stored beside the connection that it has: they are older than what is known, so they do not
   * say whether the device is online now, and what that connection has written meanwhile is kept.
   */
  readonly isOnline?: boolean;
  state: HoldState;
  /** The rules that apply, as of their version. */
  view: RuleView | undefined;
  /** What it remembers since its first commit. */
  kept?: KeptMemory | undefined;
  /** What waits of it, once something has. */
  line?: WaitingLine | undefined;
}
