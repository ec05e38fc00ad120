import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { Database } from "./database.ts";
import { type ClaimedRow, claimJobs, type JobTable } from "./job-table.ts";
import type { Listener } from "./listener.ts";

export interface JobLaneOptions<Row extends ClaimedRow> {
  /** For the log. */
  name: string;
  db: Database;
  clock: Clock;
  log: Logger;
  /** Not started yet: the lane names its channel. */
  listener: Listener;
  channel: string;
  jobs: JobTable;
  /** An attempt and the writing of its result fit into the lease, so that nobody else takes the job meanwhile. */
  leaseMs: number;
  maxInFlight: number;
  /** Below `maxInFlight`, it leaves room for the jobs of others beside a backlog of one organization. */
  maxPerOrganization: number;
  pollMs: number;
  /** How many jobs may be in progress now, when that changes. */
  allowance?: () => number;
  /**
   * Does a job and writes down what came of it. A job whose run fails is due again when its lease ends. The signal is given when
   * the lane closes.
   */
  run: (job: Row, closing: AbortSignal) => Promise<void>;
}

/**
 * Works off the jobs of a table. A notification wakes it, polling guarantees, and any number of processes may run one. It holds no
 * more jobs than it works on: all others wait in the table, where any process can take them. Organizations take turns, so that a
 * backlog of one holds up nobody else. The log gets codes only: errors of the database may quote a row.
 */
export class JobLane<Row extends ClaimedRow> {
  readonly #options: JobLaneOptions<Row>;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #held = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #polling: NodeJS.Timeout;
  #lastServed: string | undefined;
  #claiming: Promise<void> | undefined;
  #isWoken = false;

  constructor(options: JobLaneOptions<Row>) {
    this.#options = options;
    options.listener.on(options.channel, () => this.wake());
    this.#polling = setInterval(() => this.wake(), options.pollMs);
    this.wake();
  }

  /** One claim at a time; a wake-up during a claim causes another. */
  wake(): void {
    if (this.#closing.signal.aborted) return;
    this.#isWoken = true;
    this.#claiming ??= this.#claimAll()
      .catch((error: unknown) => {
        const { name, log } = this.#options;
        log.warn({ lane: name, error: failureCode(error) }, "no jobs could be claimed; retrying");
      })
      .finally(() => {
        this.#claiming = undefined;
        if (this.#isWoken) this.wake();
      });
  }

  /** Takes no more jobs and waits for those in progress. Whoever wants to cut them short does so meanwhile. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#polling);
    await this.#claiming;
    await Promise.all(this.#inFlight);
  }

  async #claimAll(): Promise<void> {
    const { db, clock, jobs, leaseMs, maxInFlight, maxPerOrganization, allowance } = this.#options;
    while (this.#isWoken && !this.#closing.signal.aborted) {
      this.#isWoken = false;
      const limit = Math.min(maxInFlight, allowance?.() ?? maxInFlight) - this.#inFlight.size;
      // Each job that ends wakes again, and so does the next poll.
      if (limit <= 0) return;
      const fairness = { maxPerOrganization, held: this.#held, lastServed: this.#lastServed };
      const rows = await claimJobs<Row>(db, jobs, { now: clock.now(), leaseMs, limit, ...fairness });
      this.#lastServed = lastInTurn(rows, this.#lastServed);
      for (const row of rows) this.#launch(row);
    }
  }

  #launch(row: Row): void {
    const { name, log, run } = this.#options;
    this.#hold(row.organization_id, 1);
    const work = run(row, this.#closing.signal)
      .catch((error: unknown) => {
        const facts = { lane: name, attempt: row.attempts, error: failureCode(error) };
        log.warn(facts, "the result of a job could not be stored; the job is due again after its lease");
      })
      .finally(() => {
        this.#inFlight.delete(work);
        this.#hold(row.organization_id, -1);
        this.wake();
      });
    this.#inFlight.add(work);
  }

  #hold(organizationId: string, change: 1 | -1): void {
    const count = (this.#held.get(organizationId) ?? 0) + change;
    if (count === 0) this.#held.delete(organizationId);
    else this.#held.set(organizationId, count);
  }
}

/** Of the organizations that were served now, the one whose turn came last, counted from the one served before. */
function lastInTurn(rows: readonly ClaimedRow[], before: string | undefined): string | undefined {
  const served = rows.map((row) => row.organization_id).toSorted();
  return served.findLast((id) => before !== undefined && id <= before) ?? served.at(-1) ?? before;
}

/** What may be logged of an error: a code, or its name, never its text. */
export function failureCode(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
