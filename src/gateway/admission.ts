import type { SessionDevice } from "../codecs/protocol-definition.ts";
import type { DeviceHold } from "../ingest/device-memory.ts";

/** A device that may speak on a connection. */
export interface Admission {
  device: SessionDevice;
  modelSlug: string;
  outstandingSerials: Set<string>;
  hold: DeviceHold;
}
