import { defineProtocol } from "../protocol-definition.ts";
import { encodeDownlink, serialOf } from "./downlink.ts";
import { maxFrameBytes, nextPiece, startOf } from "./framing.ts";
import { Gl200Traits } from "./traits.ts";
import { readFrame } from "./uplink.ts";

/** The @Track protocol of Queclink trackers: `+RESP:GTFRI,1A0900,490154203237518,…$`. */
export const gl200 = defineProtocol({
  slug: "gl200",
  transports: ["tcp", "udp"],
  traits: Gl200Traits,
  terminalIds: { defaultFor: () => null, compareKey: (terminalId) => terminalId.toUpperCase() },
  serialOf,
  modeSeconds: {},
  maxFrameBytes,
  recognizes: (start) => {
    const found = startOf(start, 0);
    return found === undefined ? undefined : found !== false;
  },
  nextPiece,
  readFrame,
  encode: encodeDownlink,
});
