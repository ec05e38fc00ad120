import type { SessionDevice } from "../codecs/protocol-definition.ts";
import type { TrackerMessage } from "../codecs/tracker-message.ts";
import type { DeviceHold } from "../ingest/device-memory.ts";
import type { DeviceBudgets } from "./inflow.ts";

/** A device that may speak on a connection. */
export interface Admission {
  device: SessionDevice;
  modelSlug: string;
  hold: DeviceHold;
  budgets: DeviceBudgets;
  /** What the device says tells another SIM than the pinned one: then the connection is to be closed. Absent: none is pinned. */
  refusesSim?: (messages: readonly TrackerMessage[]) => boolean;
}
