import type { SpokenSlug } from "../codecs/protocols.ts";
import type { DeviceProtocol, FleetTransport } from "./device-protocol.ts";
import { makeGt06Device } from "./gt06-device.ts";
import { makeH02Device } from "./h02-device.ts";
import { makeIwDevice } from "./iw-device.ts";
import { makeJt808Device } from "./jt808-device.ts";
import { makeTeltonikaDevice } from "./teltonika-device.ts";
import { makeWatchDevice } from "./watch-device.ts";

/** The device's side by model. Fleets are made of the first model; models that are not named speak like it. */
export type VirtualModels = readonly [VirtualModel, ...VirtualModel[]];

export interface VirtualModel {
  modelSlug: string;
  make(transport: FleetTransport): DeviceProtocol;
}

/** Every protocol that the service speaks; null: it has no virtual device. */
export const virtualProtocols: Readonly<Record<SpokenSlug, VirtualModels | null>> = {
  iw: [
    { modelSlug: "iw-h10", make: () => makeIwDevice("A") },
    { modelSlug: "iw-pt880", make: () => makeIwDevice("B") },
  ],
  watch: [{ modelSlug: "watch-generic", make: makeWatchDevice }],
  gt06: [{ modelSlug: "gt06-generic", make: makeGt06Device }],
  h02: [{ modelSlug: "h02-generic", make: makeH02Device }],
  jt808: [{ modelSlug: "jt808-generic", make: makeJt808Device }],
  teltonika: [{ modelSlug: "teltonika-generic", make: makeTeltonikaDevice }],
};
