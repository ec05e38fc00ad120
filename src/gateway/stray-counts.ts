import type { Decoded } from "../codecs/stream-decoder.ts";
import type { GatewayLimits } from "./gateway-limits.ts";

/** What a peer sent that nobody can read, since its last good frame. */
export class StrayCounts {
  #bytes = 0;
  #malformed = 0;

  /** What was wrong before a good frame is forgiven, what comes after it counts. */
  add({ frames, trailing }: Decoded): void {
    const isForgiven = frames.length > 0;
    this.#bytes = (isForgiven ? 0 : this.#bytes) + trailing.bytes;
    this.#malformed = (isForgiven ? 0 : this.#malformed) + trailing.malformed;
  }

  /** Why the peer is to be closed; undefined: it may go on. */
  excess(limits: GatewayLimits): "malformed" | "garbage" | undefined {
    if (this.#malformed >= limits.maxConsecutiveMalformed) return "malformed";
    return this.#bytes > limits.bytesWithoutFrame ? "garbage" : undefined;
  }
}
