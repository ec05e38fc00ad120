/** Part of its time that the process may be busy while late rows are sent beside new ones. */
const maxBusyShare = 0.5;
const minLimit = 4;

export interface ShareMoment {
  /** Part of the moment that the process was busy. */
  busy: number;
  lateInFlight: number;
  hasUpToDate: boolean;
  /** Fewer late rows were begun than must be for backlogs to end. */
  isTooSlow: boolean;
}

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

  adjust({ busy, lateInFlight, hasUpToDate, isTooSlow }: ShareMoment): number {
    const hasAir = busy <= maxBusyShare;
    if (!hasUpToDate) this.#limit = this.#max;
    // Far receivers take long for each row: of these it takes many at once to begin enough.
    else if (lateInFlight >= this.#limit && (hasAir || isTooSlow))
      this.#limit = Math.min(this.#max, Math.ceil(this.#limit * 1.1));
    else if (!hasAir && !isTooSlow)
      this.#limit = Math.max(minLimit, Math.floor(Math.min(this.#limit, lateInFlight) * 0.7));
    return this.#limit;
  }
}
