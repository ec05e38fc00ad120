import { Type } from "@sinclair/typebox";
import { NoTraits } from "./no-traits.ts";
import { sixDigitSerial, sixteenBitSerial } from "./serials.ts";
import { imeiOnly, last12Digits } from "./terminal-ids.ts";

/**
 * Protocols of the catalog that no codec speaks yet. Their devices can be registered, so the rules that registering needs stand
 * here until `protocols.ts` lists the protocol; then its definition counts, and its entry here is removed.
 */
const exact = { additionalProperties: false };

const Jt808Traits = Type.Object(
  {
    text_encoding: Type.Literal("gbk"),
    /** The standard's clock is GMT+8, whatever the country. */
    clock_offset_minutes: Type.Integer({ minimum: -720, maximum: 840 }),
  },
  exact,
);

const plain = { traits: NoTraits, terminalIds: imeiOnly, serialOf: sixDigitSerial, modeSeconds: {} };

export const announcedProtocols = [
  { ...plain, slug: "jt808", traits: Jt808Traits, terminalIds: last12Digits, serialOf: sixteenBitSerial },
  { ...plain, slug: "teltonika" },
] as const;
