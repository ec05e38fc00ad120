import { Type } from "@sinclair/typebox";
import { NoTraits } from "./no-traits.ts";
import { sixDigitSerial } from "./serials.ts";
import { imeiOnly } from "./terminal-ids.ts";

/**
 * Protocols of the catalog that no codec speaks yet. Their devices can be registered, so the rules that registering needs stand
 * here until `protocols.ts` lists the protocol; then its definition counts, and its entry here is removed.
 */
const exact = { additionalProperties: false };

const Gl200Traits = Type.Object({ command_password: Type.String({ maxLength: 20 }) }, exact);

const plain = { traits: NoTraits, terminalIds: imeiOnly, serialOf: sixDigitSerial, modeSeconds: {} };

export const announcedProtocols = [
  { ...plain, slug: "minifinder2" },
  { ...plain, slug: "gl200", traits: Gl200Traits },
  { ...plain, slug: "osmand" },
] as const;
