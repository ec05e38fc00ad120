import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { Database, Db } from "./database.ts";
import { isLost, isRetryable } from "./failures.ts";
import { routedReads } from "./routed-reads.ts";

/** How long a read waits for the replica to catch up before it goes to the main database. */
const defaultMaxWaitMs = 100;
const pauseMs = 5;
/** A replica that failed is left alone for so long. */
const defaultRestMs = 5000;
/** A replica that stands still must not hold up calls. */
const maxAnswerMs = 1000;

export interface ReadReplicaOptions {
  main: Database;
  replica: Database;
  log: Logger;
  metrics: Metrics;
  maxWaitMs?: number;
  restMs?: number;
}

export interface ReplicaState {
  /** Why it cannot be used; undefined: it can. */
  reason: string | undefined;
  /** Written on the main database and not yet to be seen on the replica. */
  lagBytes: number;
}

/** Whether the second server follows the first, and how closely. Throws when one of them does not answer. */
export async function readReplicaState(main: Db, replica: Db): Promise<ReplicaState> {
  const origin = await main.one<{ id: string; position: string }>`
    select system_identifier::text as id, pg_current_wal_flush_lsn()::text as position from pg_control_system()`;
  const copy = await replica.one<{ id: string; lag: number | null }>`
    select system_identifier::text as id,
      case when pg_is_in_recovery() then greatest(0, ${origin.position}::pg_lsn - pg_last_wal_replay_lsn()) end as lag
    from pg_control_system()`;
  if (copy.id !== origin.id) return { reason: "it is not a copy of the server of DATABASE_URL", lagBytes: 0 };
  if (copy.lag === null) return { reason: "it is not a standby: it takes no changes from DATABASE_URL", lagBytes: 0 };
  return { reason: undefined, lagBytes: copy.lag };
}

/**
 * Lets reads of history go to a replica, with one promise: what was committed before a call began is seen by it, whoever wrote it
 * and through whichever process. The call asks the main database how far it has come, which reads no table, and the replica
 * whether it is there; if it is not, or does not answer, the main database is read.
 */
export class ReadReplica {
  readonly #options: ReadReplicaOptions;
  readonly #onReplica: () => void;
  readonly #onMain: () => void;
  #isKnown = false;
  #isUp = true;
  #restsUntilMs = 0;

  constructor(options: ReadReplicaOptions) {
    const { metrics } = options;
    this.#options = options;
    const reads = metrics.counter("vigil_history_reads_total", "Reads of history, by the server that answered.");
    this.#onReplica = reads.at({ server: "replica" });
    this.#onMain = reads.at({ server: "main" });
    metrics.gauge("vigil_read_replica_up", "1 while the read replica can be used, 0 while it fails.", () =>
      this.#isUp ? 1 : 0,
    );
  }

  /** Reads go to the second while it is current. Writes go to the first. */
  choose(main: Db, replica: Db): Db {
    return routedReads(async (from) => {
      if (await this.#isCurrent()) {
        try {
          const result = await from(replica);
          this.#onReplica();
          return result;
        } catch (error) {
          // A statement that stands in the way of the changes to be replayed is ended like one that conflicts with another.
          if (!isRetryable(error) && !isLost(error)) throw error;
          if (isLost(error)) this.#rest(error);
        }
      }
      this.#onMain();
      return from(main);
    }, main);
  }

  async #isCurrent(): Promise<boolean> {
    const { main, replica, maxWaitMs = defaultMaxWaitMs } = this.#options;
    const startedMs = performance.now();
    if (startedMs < this.#restsUntilMs) return false;
    const { position } = await main.point.one<{ position: string }>`
      select pg_current_wal_flush_lsn()::text as position`;
    try {
      if (!this.#isKnown) await inTime(this.#introduce());
      for (;;) {
        const asked = replica.point.one<{ is_current: boolean | null }>`
          select pg_last_wal_replay_lsn() >= ${position}::pg_lsn as is_current`;
        const { is_current } = await inTime(asked);
        if (is_current === null) throw new Error("the read replica has become a server of its own");
        this.#isUp = true;
        if (is_current) return true;
        if (performance.now() - startedMs >= maxWaitMs) return false;
        await new Promise((done) => setTimeout(done, pauseMs));
      }
    } catch (error) {
      this.#rest(error);
      return false;
    }
  }

  /** The positions of two servers can be compared only if one is a copy of the other. */
  async #introduce(): Promise<void> {
    const { reason } = await readReplicaState(this.#options.main, this.#options.replica);
    if (reason !== undefined) throw new Error(reason);
    this.#isKnown = true;
  }

  #rest(error: unknown): void {
    if (this.#isUp) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.log.warn({ err: reason }, "the read replica cannot be used; the main database answers instead");
    }
    this.#isUp = false;
    // Another server may answer under this address when it is back.
    this.#isKnown = false;
    this.#restsUntilMs = performance.now() + (this.#options.restMs ?? defaultRestMs);
  }
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the read replica does not answer")), maxAnswerMs);
  });
  try {
    return await Promise.race([answer, limit]);
  } finally {
    clearTimeout(timer);
  }
}
