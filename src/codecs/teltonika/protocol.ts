import { NoTraits } from "../no-traits.ts";
import { defineProtocol } from "../protocol-definition.ts";
import { sixDigitSerial } from "../serials.ts";
import { imeiOnly } from "../terminal-ids.ts";
import { answerTo, refusal } from "./answers.ts";
import { encodeDownlink } from "./downlink.ts";
import { maxFrameBytes, nextPiece, recognizes } from "./framing.ts";
import { readFrame } from "./uplink.ts";

/** Teltonika trackers: records in codecs 8, 8 Extended and 16 (and 7), texts in codecs 12, 13 and 14. */
export const teltonika = defineProtocol({
  slug: "teltonika",
  transports: ["tcp", "udp"],
  traits: NoTraits,
  maxFrameBytes,
  terminalIds: imeiOnly,
  // Not sent: the protocol has no serials.
  serialOf: sixDigitSerial,
  modeSeconds: {},
  recognizes,
  nextPiece,
  readFrame,
  encode: encodeDownlink,
  answerTo,
  refuse: () => refusal,
});
