import type { ProtocolDefinition } from "../codecs/protocol-definition.ts";

/** The protocol of the first bytes, `wait` while several are possible, or `none`. */
export function recognize(
  protocols: readonly ProtocolDefinition[],
  start: Buffer,
): ProtocolDefinition | "wait" | "none" {
  let isOpen = false;
  for (const protocol of protocols) {
    const verdict = protocol.recognizes(start);
    if (verdict === true) return protocol;
    if (verdict === undefined) isOpen = true;
  }
  return isOpen ? "wait" : "none";
}
