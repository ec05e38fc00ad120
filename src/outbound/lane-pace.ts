const firstInFlight = 4;
const minInFlight = 2;
/** With this many open deliveries new rows are only tried one by one, until one succeeds. */
const maxOpen = 10_000;
export const probeEveryMs = 1000;

/** How much a receiver gets at a time: more with every success, half with every silence. */
export class LanePace {
  readonly #max: number;
  #limit = firstInFlight;
  #failedMs: number | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  /** Attempts that may be in progress. */
  get limit(): number {
    return this.#limit;
  }

  /** When the last attempt failed; undefined after a success. */
  get failedMs(): number | undefined {
    return this.#failedMs;
  }

  succeeded(): void {
    this.#failedMs = undefined;
    this.#limit = Math.min(this.#max, this.#limit + 1);
  }

  failed(nowMs: number, isTimeout: boolean): void {
    this.#failedMs = nowMs;
    if (isTimeout) this.#limit = Math.max(minInFlight, this.#limit >> 1);
  }

  /** A receiver that fails everything gets new rows one by one while too many wait to be tried again. */
  isHeldBack(open: number, newInFlight: number, nowMs: number): boolean {
    if (open < maxOpen || this.#failedMs === undefined) return false;
    return newInFlight > 0 || nowMs - this.#failedMs < probeEveryMs;
  }
}
