import { NoTraits } from "../no-traits.ts";
import { defineProtocol } from "../protocol-definition.ts";
import { imeiDigits5To14 } from "../terminal-ids.ts";
import { answerTo } from "./answers.ts";
import { encodeDownlink, modeSeconds, serialOf } from "./downlink.ts";
import { maxFrameBytes, nextPiece, startsFrame } from "./framing.ts";
import { readFrame } from "./uplink.ts";

/** The protocol of Sinotrack and its many copies: `*HQ,1234567890,V1,…#`, and a binary form of the same. */
export const h02 = defineProtocol({
  slug: "h02",
  transports: ["tcp", "udp"],
  traits: NoTraits,
  maxFrameBytes,
  terminalIds: imeiDigits5To14,
  serialOf,
  modeSeconds,
  recognizes: (start) => startsFrame(start),
  nextPiece,
  readFrame,
  encode: encodeDownlink,
  answerTo,
});
