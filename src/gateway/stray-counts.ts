import type { Decoded } from "../codecs/stream-decoder.ts";
import type { GatewayLimits } from "./gateway-limits.ts";

/** Made when there is something to count: most peers never send what nobody can read. */
export function withStrays(known: StrayCounts | undefined, decoded: Decoded): StrayCounts | undefined {
  const { bytes, malformed } = decoded.trailing;
  if (!known && bytes === 0 && malformed === 0) return undefined;
  const counts = known ?? new StrayCounts();
  counts.add(decoded);
  return counts;
}

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
