import { defineProtocol } from "../protocol-definition.ts";
import { imeiOnly } from "../terminal-ids.ts";
import { encodeDownlink, modeSeconds, serialOf } from "./downlink.ts";
import { maxFrameBytes, nextPiece, startsFrame } from "./framing.ts";
import { Gt06Traits } from "./traits.ts";
import { readFrame } from "./uplink.ts";

/** The binary protocol of Concox, Jimi and the many that speak like them. Only the login names the device: no UDP. */
export const gt06 = defineProtocol({
  slug: "gt06",
  transports: ["tcp"],
  traits: Gt06Traits,
  maxFrameBytes,
  terminalIds: imeiOnly,
  serialOf,
  modeSeconds,
  recognizes: (start) => startsFrame(start),
  nextPiece,
  readFrame,
  encode: encodeDownlink,
});
