/** A moment in which a packet waited longer, or the process had hardly any time left, is one in which late rows give way. */
const maxWaitMs = 10;
const maxBusyShare = 0.7;
/** Devices that have sent nothing for so long wait for nothing. */
const quietMs = 2000;

export interface Moment {
  durationMs: number;
  /** Part of it that the process was busy. */
  busy: number;
  /** Batches of packets that were acknowledged in it, and how long the oldest packet had waited. */
  packets: { count: number; maxMs: number };
  /** Late rows that were begun in it. */
  begun: number;
  /** So many late rows may begin in a second whatever happens. */
  minPerSecond: number;
}

/**
 * How many late rows may begin in a second while the same process answers devices. How many are in progress says little of that: a
 * near receiver answers in a millisecond. The rate falls by half while packets have to wait and grows by a tenth while they have not,
 * and begins low whenever devices begin to speak, so that a backlog that is met then is no blow to them.
 */
export class LateRate {
  #perSecond = Number.POSITIVE_INFINITY;
  #quietForMs = quietMs;

  adjust({ durationMs, busy, packets, begun, minPerSecond }: Moment): number {
    const wasQuiet = this.#quietForMs >= quietMs;
    this.#quietForMs = packets.count > 0 ? 0 : this.#quietForMs + durationMs;
    const begunPerSecond = (begun * 1000) / durationMs;
    if (this.#quietForMs >= quietMs) this.#perSecond = Number.POSITIVE_INFINITY;
    else if (wasQuiet) this.#perSecond = minPerSecond;
    else if (packets.maxMs > maxWaitMs || busy > maxBusyShare) {
      this.#perSecond = Math.min(this.#perSecond, begunPerSecond) * 0.5;
    } else if (begunPerSecond >= this.#perSecond * 0.8) this.#perSecond *= 1.1;
    this.#perSecond = Math.max(minPerSecond, this.#perSecond);
    return this.#perSecond;
  }
}
