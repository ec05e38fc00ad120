/** Part of its time that the process may be busy while late rows are sent beside new ones. */
const mostBusy = 0.5;
const fewest = 4;

/**
 * How many late rows may be under way. A backlog that is sent as fast as the machine can makes every new row of others wait in the
 * queue behind it, and gains nothing by being many at once: while somebody is up to date, it gets what leaves the process some air.
 */
export class LateShare {
  readonly #most: number;
  #limit: number;

  constructor(most: number) {
    this.#most = most;
    this.#limit = most;
  }

  /** Looks at the last moments: the part of them the process was busy, how many late rows are under way, and who else is there. */
  adjust(busy: number, lateInFlight: number, hasUpToDate: boolean): number {
    if (!hasUpToDate) this.#limit = this.#most;
    else if (busy > mostBusy) this.#limit = Math.max(fewest, Math.floor(Math.min(this.#limit, lateInFlight) * 0.7));
    else if (lateInFlight >= this.#limit) this.#limit = Math.min(this.#most, Math.ceil(this.#limit * 1.1));
    return this.#limit;
  }
}
