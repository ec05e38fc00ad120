import { defineProtocol } from "../protocol-definition.ts";
import { sixteenBitSerial } from "../serials.ts";
import { last12Digits } from "../terminal-ids.ts";
import { answerTo, refuse } from "./answers.ts";
import { modeSeconds } from "./commands.ts";
import { encodeDownlink } from "./downlink.ts";
import { maxFrameBytes, nextPiece, recognizes } from "./framing.ts";
import { Jt808Traits } from "./traits.ts";
import { readFrame } from "./uplink.ts";

/** JT/T 808, the Chinese standard for terminals, in its forms of 2011, 2013 and 2019. */
export const jt808 = defineProtocol({
  slug: "jt808",
  transports: ["tcp"],
  traits: Jt808Traits,
  maxFrameBytes,
  terminalIds: last12Digits,
  serialOf: sixteenBitSerial,
  modeSeconds,
  recognizes,
  nextPiece,
  readFrame,
  encode: encodeDownlink,
  answerTo,
  refuse,
});
