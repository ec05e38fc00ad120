import {
  type AwaitedAnswer,
  type Downlink,
  type ProtocolDefinition,
  type Session,
  UnsupportedDownlink,
} from "../codecs/protocol-definition.ts";
import type { TrackerMessage } from "../codecs/tracker-message.ts";
import type { Database } from "../db/database.ts";
import type { IngestDevice } from "../ingest/device-memory.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { Catalog } from "../resources/catalog/catalog.ts";

/** A device that is connected to this process, as those see it who have something to tell it. */
export interface DeviceLink {
  readonly device: IngestDevice;
  readonly modelSlug: string;
  readonly protocol: string;
  readonly epoch: number;
  /** False once the connection is closing or a newer one has the device. */
  readonly isOpen: boolean;
  /** Serials that wait for an answer: the codec tells answers of the device by them. */
  readonly outstandingSerials: Set<string>;
  /** The frames of a downlink, in order. Throws UnsupportedDownlink for what the model does not support. */
  encode(downlink: Downlink): Buffer[];
  /** What the device will say to frames of a command; empty when the protocol does not tell. */
  answersTo(frames: readonly Buffer[]): AwaitedAnswer[];
  /** True when the operating system has taken all bytes; false when the connection broke before. */
  send(frames: readonly Buffer[]): Promise<boolean>;
}

/** Someone who speaks to devices: commands, messages. What it must not forget is in the database, not here. */
export interface DownlinkLane {
  /** The device has logged in, and its login is stored and answered: what waits for it may be sent. */
  onOpen(link: DeviceLink): void;
  /** Something for the device may have been written to the database. */
  onWake(link: DeviceLink): void;
  /** The device has said this, and it is committed, with everything that the steps of the batch made of it. */
  onMessages(link: DeviceLink, messages: readonly TrackerMessage[]): void;
  onClose(link: DeviceLink): void;
  close(): Promise<void>;
}

/** What a lane is made of. */
export interface DownlinkHost {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly catalog: Catalog;
  /** Names this process in device_sessions. */
  readonly nodeId: string;
  /** Those that are open here, for sweeps. */
  links(): Iterable<DeviceLink>;
  linkOf(deviceId: string): DeviceLink | undefined;
}

export type MakeDownlinkLane = (host: DownlinkHost) => DownlinkLane;

/** What a device hears about the time when it has logged in. Not every protocol sets a clock. */
export function clockFrames(protocol: ProtocolDefinition, session: Session): Buffer[] {
  try {
    return protocol.encode({ kind: "clock" }, session);
  } catch (error) {
    if (error instanceof UnsupportedDownlink) return [];
    throw error;
  }
}
