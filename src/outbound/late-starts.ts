/** Of what may begin in a second a part at a time, or the rows of a whole look would begin at once and hold up packets. */
export const startEveryMs = 20;
/** Turns of a busy process take long, and the rate holds for these, too. What a process has missed that stood still does not all begin at once. */
const maxTurnMs = 200;

/** How many late rows may begin now, of those that may in a second. */
export class LateStarts {
  #owed = 0;

  /** The time since the last call, and how many have begun in it. What nobody wanted is kept for one call. */
  next(perSecond: number, elapsedMs: number, begun: number): number {
    const unused = Math.min(this.#owed - begun, (perSecond * startEveryMs) / 1000);
    this.#owed = Math.max(0, unused) + (perSecond * Math.min(elapsedMs, maxTurnMs)) / 1000;
    return Math.floor(this.#owed);
  }
}
