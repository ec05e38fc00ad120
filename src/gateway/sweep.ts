const visitsPerTurn = 2000;

/**
 * Visits all of many once per interval, some of them in each turn of the event loop: a visit to 100,000 connections in one turn
 * would hold up every answer.
 */
export class Sweep<T> {
  readonly #visit: (one: T, nowMs: number) => void;
  readonly #timer: NodeJS.Timeout;
  #next: NodeJS.Immediate | undefined;

  constructor(all: () => Iterator<T>, everyMs: number, visit: (one: T, nowMs: number) => void) {
    this.#visit = visit;
    this.#timer = setInterval(() => {
      // One that is not through when the next is due goes on instead.
      if (!this.#next) this.#goOn(all());
    }, everyMs);
  }

  #goOn(rest: Iterator<T>): void {
    const nowMs = performance.now();
    for (let count = 0; count < visitsPerTurn; count++) {
      const { value, done } = rest.next();
      if (done) {
        this.#next = undefined;
        return;
      }
      this.#visit(value, nowMs);
    }
    this.#next = setImmediate(() => this.#goOn(rest));
  }

  stop(): void {
    clearInterval(this.#timer);
    clearImmediate(this.#next);
    this.#next = undefined;
  }
}
