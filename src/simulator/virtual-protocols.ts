import type { SpokenSlug } from "../codecs/protocols.ts";
import type { DeviceProtocol, FleetTransport } from "./device-protocol.ts";
import { makeGl200Device } from "./gl200-device.ts";
import { makeGt06Device } from "./gt06-device.ts";
import { makeH02Device } from "./h02-device.ts";
import { makeIwDevice } from "./iw-device.ts";
import { makeJt808Device } from "./jt808-device.ts";
import { makeMinifinder2Device } from "./minifinder2-device.ts";
import { makeOsmandDevice } from "./osmand-device.ts";
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
  gl200: [
    { modelSlug: "gl200-generic", make: () => makeGl200Device(false) },
    { modelSlug: "gl200-sack", make: () => makeGl200Device(true) },
  ],
  minifinder2: [
    { modelSlug: "minifinder2-generic", make: () => makeMinifinder2Device(0) },
    { modelSlug: "minifinder2-w101", make: () => makeMinifinder2Device(1) },
  ],
  osmand: [{ modelSlug: "osmand-generic", make: makeOsmandDevice }],
  gt06: [{ modelSlug: "gt06-generic", make: makeGt06Device }],
  h02: [{ modelSlug: "h02-generic", make: makeH02Device }],
  jt808: [{ modelSlug: "jt808-generic", make: makeJt808Device }],
  teltonika: [{ modelSlug: "teltonika-generic", make: makeTeltonikaDevice }],
};

/** Who plays the scene of the demo: a watch that can do everything, and a phone that reports over HTTP. */
export const showcaseModels = {
  caller: { protocol: "iw", modelSlug: "iw-h10" },
  phone: { protocol: "osmand", modelSlug: "osmand-generic" },
} as const;
