import type { Codec } from "../codecs/codec.ts";

/** The codec of the first bytes, `wait` while several are possible, or `none`. */
export function recognize(codecs: readonly Codec[], start: Buffer): Codec | "wait" | "none" {
  let isOpen = false;
  for (const codec of codecs) {
    const verdict = codec.recognizes(start);
    if (verdict === true) return codec;
    if (verdict === undefined) isOpen = true;
  }
  return isOpen ? "wait" : "none";
}
