import { isLost, isPreparedTwice, isTimedOut, isUnprepared } from "./failures.ts";
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
/** What a statement counts as that the server ended: it comes back after some thirty quick runs on the pool. */
const cancelledMs = 10_000;

/** No read that locks, and none whose caller chooses what it costs: a search, a page that skips others. */
const isCandidate = (text: string): boolean =>
  /^\s*select\b/i.test(text) &&
  !/\bfor (no key )?(update|share)\b|\bfor key share\b|_lock|\blike\b|\boffset\b/i.test(text);

/** The longest that a quick read may hold up those behind it, for the server of the shared connections. */
export const maxQuickMs = 50;

/**
 * Reads that have proved quick share few connections, on which many of them are under way at once: that takes fewer messages and
 * fewer changes between processes than a connection for each. A statement starts on the pool and comes here while it takes less
 * than 10 ms on average. One that takes longer than 50 ms is ended and runs again on the pool, and while a connection stands
 * still further statements avoid it: what waits behind a slow statement, also one that its caller made slow, is bounded. What
 * fails because of the connection and those it shares it with runs again on the pool: it only reads.
 */
export class QuickReads {
  readonly #connections: readonly SharedConnection[];
  /** By the name of the statement; undefined for what never comes here. The number of names is bounded. */
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

  /** Undefined: it has no answer here and has to run on the pool. */
  async run(connection: SharedConnection, statement: Statement): Promise<Outcome | undefined> {
    try {
      return await connection.query(statement, (ms) => this.#learn(statement, ms));
    } catch (error) {
      if (isTimedOut(error)) this.#learn(statement, cancelledMs);
      // Statements that are sent together rely on the first of them to be parsed.
      else if (!isUnprepared(error) && !isPreparedTwice(error) && !isLost(error)) throw error;
      return undefined;
    }
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
    else if (!this.#meanMs.has(name)) this.#meanMs.set(name, isCandidate(text) ? ms : undefined);
  }
}
