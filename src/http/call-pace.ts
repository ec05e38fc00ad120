/** Ticks after which a principal counts as silent, a recall as settled and a refusal as worth another look: 0.5 to 1 second. */
export const quietTicks = 2;

/** A slice is what a principal calls in about half a second, but at least this. */
const minSlice = 50;

/** How fast a principal calls, by the calls of the tick that runs and of the one before it. A tick is half a second. */
export class CallPace {
  #lastTick = Number.NEGATIVE_INFINITY;
  #calls = 0;
  #formerCalls = 0;
  #isSteady = false;

  count(tick: number): void {
    // A principal that calls less than about once a second leases call by call: a slice would only be given back.
    this.#isSteady = tick - this.#lastTick < quietTicks;
    if (tick !== this.#lastTick) {
      this.#formerCalls = tick - this.#lastTick === 1 ? this.#calls : 0;
      this.#calls = 0;
      this.#lastTick = tick;
    }
    this.#calls += 1;
  }

  /** How many calls are worth leasing at once; 0 for a principal that calls rarely, or has fallen silent. */
  sliceAt(tick: number): number {
    const isCalling = this.#isSteady && tick - this.#lastTick < quietTicks;
    return isCalling ? Math.max(minSlice, this.#calls, this.#formerCalls) : 0;
  }
}
