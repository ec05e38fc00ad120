/** A process that is busier has no time left for late rows. */
const maxBusyShare = 0.7;
/** Packets that wait less are not held up, however short they wait beside few late rows. */
const goodWaitMs = 10;
/** Packets are held up that wait so many times as long as beside few late rows. */
const heldUpFactor = 1.5;
/** What one moment counts in the mean of waits. */
const momentShare = 0.1;
/** Devices that have sent nothing for so long wait for nothing. */
const quietMs = 2000;

export interface Moment {
  durationMs: number;
  /** Part of it that the process was busy. */
  busy: number;
  /** Batches of packets that were acknowledged in it, how long the oldest packet had waited, and whether any wait now. */
  packets: { count: number; maxMs: number; isWaiting: boolean };
  /** Late rows that were begun in it. */
  begun: number;
  /** So many late rows may begin in a second whatever happens. */
  minPerSecond: number;
}

const meanOf = (before: number, now: number): number => before + (now - before) * momentShare;

/**
 * How many late rows may begin in a second while the same process answers devices. How many are in progress says little of that: a
 * near receiver answers in a millisecond. The rate falls by half while the process is busy or packets are held up, grows by a tenth
 * while they are not, and begins low whenever devices begin to speak, so that a backlog that is met then is no blow to them.
 *
 * A slow disk makes packets wait, too, and late rows are not to blame for it. Waits are therefore compared with those beside few late
 * rows, which are measured whenever the rate is at its least: a rate that has fallen so far and made no wait shorter grows again.
 */
export class LateRate {
  #perSecond = Number.POSITIVE_INFINITY;
  #quietForMs = quietMs;
  /** Means of the longest wait of each moment: lately, and beside few late rows. */
  #waitMs: number | undefined;
  #baselineMs: number | undefined;

  adjust({ durationMs, busy, packets, begun, minPerSecond }: Moment): number {
    const wasQuiet = this.#quietForMs >= quietMs;
    this.#quietForMs = packets.count > 0 || packets.isWaiting ? 0 : this.#quietForMs + durationMs;
    if (this.#quietForMs >= quietMs) {
      this.#perSecond = Number.POSITIVE_INFINITY;
      return this.#perSecond;
    }
    const begunPerSecond = (begun * 1000) / durationMs;
    const used = Math.min(this.#perSecond, begunPerSecond);
    if (wasQuiet) {
      this.#waitMs = undefined;
      this.#baselineMs = undefined;
      this.#perSecond = minPerSecond;
    } else {
      const wait = this.#judge(packets, used <= minPerSecond);
      if (wait === "held up" || busy > maxBusyShare) this.#perSecond = used * 0.5;
      else if (wait === "usual" && begunPerSecond >= this.#perSecond * 0.8) this.#perSecond *= 1.1;
    }
    this.#perSecond = Math.max(minPerSecond, this.#perSecond);
    return this.#perSecond;
  }

  /** A single long wait is no more than a reason to wait and see: a full collection makes one, and so does a slow flush. */
  #judge({ count, maxMs, isWaiting }: Moment["packets"], isBesideFew: boolean): "usual" | "long" | "held up" {
    if (count === 0) return isWaiting ? "long" : "usual";
    const waitMs = meanOf(this.#waitMs ?? maxMs, maxMs);
    const baselineMs = this.#baselineMs ?? maxMs;
    this.#waitMs = waitMs;
    // Late rows make no wait shorter: what is shorter beside many of them would be so beside few.
    this.#baselineMs = isBesideFew ? meanOf(baselineMs, maxMs) : Math.min(baselineMs, meanOf(baselineMs, waitMs));
    const boundMs = Math.max(goodWaitMs, heldUpFactor * this.#baselineMs);
    if (maxMs <= boundMs) return "usual";
    return waitMs > boundMs ? "held up" : "long";
  }
}
