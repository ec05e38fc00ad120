import type { ProtocolDefinition } from "../codecs/protocol-definition.ts";
import type { TrackerMessage } from "../codecs/tracker-message.ts";
import type { DeviceHold } from "../ingest/device-memory.ts";
import type { Ingest } from "../ingest/ingest.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { Admissions } from "./admissions.ts";
import type { Connection } from "./connection.ts";
import type { GatewayLimits } from "./gateway-limits.ts";
import type { GatewayMetrics } from "./gateway-metrics.ts";
import type { PeerLimits } from "./peer-limits.ts";

/** What all connections of a gateway share. */
export interface ConnectionHost {
  readonly protocols: readonly ProtocolDefinition[];
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: GatewayMetrics;
  readonly ingest: Ingest;
  /** Too much waits in the whole gateway: nobody is read. */
  readonly isFull: boolean;
  /** After each chunk, which may have been the one too many. */
  checkRoom(): void;
  readonly peers: PeerLimits;
  readonly admissions: Admissions;
  /** The connection is the device's from now on, and an older one of this process is closed; false: there is a newer one. */
  onOpen(connection: Connection, hold: DeviceHold): boolean;
  /** The login is stored and answered. */
  ready(connection: Connection): void;
  /** What the device said is stored and answered. */
  onMessages(connection: Connection, messages: readonly TrackerMessage[]): void;
  onClose(connection: Connection): void;
}

/**
 * `closing` reads no more, and is closed once the frames that wait are answered. There is no way back from it.
 */
export type ConnectionState = "recognizing" | "awaiting_login" | "resolving" | "open" | "closing" | "closed";
