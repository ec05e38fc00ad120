import type { Outcome } from "./prepared-read.ts";
import type { SharedConnection } from "./shared-connections.ts";
import type { Statement } from "./sql.ts";

/** Statements that take longer on average have a connection of the pool to themselves. */
const maxMeanMs = 10;
/** A connection that has said nothing for so long gets no further statements. */
const maxStalledMs = 30;
const maxWaiting = 64;
/** The weight of the last time in the mean. */
const weight = 0.2;

const isRead = (text: string): boolean =>
  /^\s*select\b/i.test(text) && !/\bfor (no key )?(update|share)\b|\bfor key share\b|_lock/i.test(text);

/**
 * Reads that have proved quick share few connections, on which many of them are under way at once: that takes fewer messages and
 * fewer changes between processes than a connection for each. A statement starts on the pool and comes here while it takes less
 * than 10 ms on average; it goes back when it becomes slow, and while a connection stands still further statements avoid it. So
 * what waits behind one slow statement is bounded.
 */
export class QuickReads {
  readonly #connections: readonly SharedConnection[];
  /** By the name of the statement; undefined for what does not only read. The number of names is bounded. */
  readonly #meanMs = new Map<string, number | undefined>();

  constructor(connections: readonly SharedConnection[]) {
    this.#connections = connections;
  }

  /** A connection with room for the statement; undefined: it belongs on the pool. */
  find({ name }: Statement): SharedConnection | undefined {
    if (name === undefined) return undefined;
    const mean = this.#meanMs.get(name);
    if (mean === undefined || mean > maxMeanMs) return undefined;
    const nowMs = performance.now();
    let best: SharedConnection | undefined;
    for (const connection of this.#connections) {
      if (!connection.isOpen) connection.open().catch(() => undefined);
      else if (connection.waiting < (best?.waiting ?? maxWaiting) && connection.stalledMs(nowMs) < maxStalledMs)
        best = connection;
    }
    return best;
  }

  run(connection: SharedConnection, statement: Statement): Promise<Outcome> {
    return connection.query(statement, (ms) => this.#learn(statement, ms));
  }

  /** Runs a statement on the pool and takes its time. */
  async timed(statement: Statement, run: () => Promise<Outcome>): Promise<Outcome> {
    const startedMs = performance.now();
    const outcome = await run();
    this.#learn(statement, performance.now() - startedMs);
    return outcome;
  }

  #learn({ name, text }: Statement, ms: number): void {
    if (name === undefined) return;
    const mean = this.#meanMs.get(name);
    if (mean !== undefined) this.#meanMs.set(name, mean + (ms - mean) * weight);
    else if (!this.#meanMs.has(name)) this.#meanMs.set(name, isRead(text) ? ms : undefined);
  }
}
