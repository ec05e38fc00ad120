/** However few come, a backlog that nothing is added to comes to its end, too. */
const minPerSecond = 1000;
/** More late rows begin than come: beside them it is the backlog that becomes smaller. */
const drainFactor = 1.25;
/** Devices report in waves, and a mean of less than some seconds would rise and fall with each. */
const meanOverMs = 5000;

export interface Arrivals {
  durationMs: number;
  /** Rows that were added to the logs of lanes that are behind. */
  appended: number;
  /** Rows that were begun as new ones. */
  begunNew: number;
  /** Attempts that failed and are made again. */
  failed: number;
}

/**
 * How many late rows may begin in a second whatever happens, so that every backlog ends: late rows keep their order, and what comes
 * after them is late as well for as long as they are not fewer.
 */
export class DrainRate {
  readonly #maxRetries: number;
  #comingPerSecond = 0;

  constructor(maxAttempts: number) {
    this.#maxRetries = maxAttempts - 1;
  }

  get perSecond(): number {
    return Math.max(minPerSecond, drainFactor * this.#comingPerSecond);
  }

  note({ durationMs, appended, begunNew, failed }: Arrivals): void {
    // Of a backlog that fails, retries come as fast as it is sent: only those count that rows make which come now.
    const coming = appended + Math.min(failed, this.#maxRetries * (appended + begunNew));
    const perSecond = (coming * 1000) / durationMs;
    this.#comingPerSecond += (perSecond - this.#comingPerSecond) * Math.min(1, durationMs / meanOverMs);
  }
}
