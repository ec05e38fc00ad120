import { defineProtocol } from "../protocol-definition.ts";
import { sixDigitSerial } from "../serials.ts";
import { imeiDigits5To14 } from "../terminal-ids.ts";
import { answerTo } from "./answers.ts";
import { modeSeconds } from "./commands.ts";
import { encodeDownlink } from "./downlink.ts";
import { maxFrameBytes, nextPiece, startsFrame } from "./framing.ts";
import { WatchTraits } from "./traits.ts";
import { readFrame } from "./uplink.ts";

/** The protocol of SeTracker and Beesure watches: `[3G*1234567890*0002*LK]`. */
export const watch = defineProtocol({
  slug: "watch",
  transports: ["tcp"],
  traits: WatchTraits,
  maxFrameBytes,
  terminalIds: imeiDigits5To14,
  serialOf: sixDigitSerial,
  modeSeconds,
  recognizes: (start) => startsFrame(start, 0),
  nextPiece,
  readFrame,
  encode: encodeDownlink,
  answerTo,
});
