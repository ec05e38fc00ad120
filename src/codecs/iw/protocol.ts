import { defineProtocol } from "../protocol-definition.ts";
import { sixDigitSerial } from "../serials.ts";
import { imeiOnly } from "../terminal-ids.ts";
import { makeGbEncoder } from "../wire/gb-text.ts";
import { answerTo } from "./answers.ts";
import { makeEncoder } from "./downlink.ts";
import { maxTextFrameBytes, nextPiece, recognizes } from "./framing.ts";
import { IwTraits } from "./traits.ts";
import { readFrame } from "./uplink.ts";

/** Health watches of the IW family in dialects A, B and C, and the few frames of TRV units that share their reports. */
export const iw = defineProtocol({
  slug: "iw",
  transports: ["tcp"],
  traits: IwTraits,
  maxFrameBytes: maxTextFrameBytes,
  terminalIds: imeiOnly,
  serialOf: sixDigitSerial,
  modeSeconds: { normal: 900, power_saving: 3600, emergency: 60 },
  recognizes,
  nextPiece,
  readFrame,
  encode: makeEncoder(makeGbEncoder()),
  answerTo,
});
