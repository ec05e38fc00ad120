import { defineProtocol } from "../protocol-definition.ts";
import { imeiOnly } from "../terminal-ids.ts";
import { encodeDownlink, serialOf } from "./downlink.ts";
import { maxFrameBytes, nextPiece, startsFrame } from "./framing.ts";
import { Minifinder2Traits } from "./traits.ts";
import { readFrame } from "./uplink.ts";

/** The binary protocol of Eview personal alarms: `AB`, then records of keys and values. */
export const minifinder2 = defineProtocol({
  slug: "minifinder2",
  transports: ["tcp", "udp"],
  traits: Minifinder2Traits,
  terminalIds: imeiOnly,
  serialOf,
  modeSeconds: {},
  maxFrameBytes,
  recognizes: (start) => startsFrame(start, 0),
  nextPiece,
  readFrame,
  encode: encodeDownlink,
});
