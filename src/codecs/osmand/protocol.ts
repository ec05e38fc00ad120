import { NoTraits } from "../no-traits.ts";
import { defineProtocol } from "../protocol-definition.ts";
import { sixDigitSerial } from "../serials.ts";
import { imeiOnly } from "../terminal-ids.ts";
import { refusal } from "./answers.ts";
import { encodeDownlink } from "./downlink.ts";
import { maxFrameBytes, nextPiece, startsRequest } from "./framing.ts";
import { readFrame } from "./uplink.ts";

/** The requests of OsmAnd, Traccar Client and scripts: `GET /?id=490154203237518&lat=41.9&lon=12.5`. */
export const osmand = defineProtocol({
  slug: "osmand",
  transports: ["http"],
  traits: NoTraits,
  terminalIds: imeiOnly,
  serialOf: sixDigitSerial,
  modeSeconds: {},
  maxFrameBytes,
  recognizes: (start) => startsRequest(start, 0),
  nextPiece,
  readFrame,
  encode: encodeDownlink,
  refuse: refusal,
});
