/** Part of its time that the process may be busy while late rows are sent beside new ones. */
const maxBusyShare = 0.5;
const minLimit = 4;

/**
 * How many late rows may be in progress. A backlog that is sent as fast as the machine can makes every new row of others wait in the
 * queue behind it, and gains nothing by being many at once: while somebody is up to date, it gets what leaves the process some air.
 */
export class LateShare {
  readonly #max: number;
  #limit: number;

  constructor(max: number) {
    this.#max = max;
    this.#limit = max;
  }

  /** Looks at the last moments: the part of them the process was busy, how many late rows are in progress, and who else is there. */
  adjust(busy: number, lateInFlight: number, hasUpToDate: boolean): number {
    if (!hasUpToDate) this.#limit = this.#max;
    else if (busy > maxBusyShare)
      this.#limit = Math.max(minLimit, Math.floor(Math.min(this.#limit, lateInFlight) * 0.7));
    else if (lateInFlight >= this.#limit) this.#limit = Math.min(this.#max, Math.ceil(this.#limit * 1.1));
    return this.#limit;
  }
}
