import type { Database, Db } from "../db/database.ts";
import { type Sql, sql } from "../db/sql.ts";
import type { Logger } from "../lib/logger.ts";

/** Hears which integration has rows to push. A wake-up that is lost is made up for by a sweep of the workers. */
export const outboundChannel = "vigil_outbound";

const notifications = (integrationIds: readonly string[]): Sql =>
  sql`pg_notify(${outboundChannel}, id) from unnest(${integrationIds}::text[]) as id`;

/** In a transaction: workers hear it when, and only if, that commits. */
export const wakeLanes = (db: Db, integrationIds: readonly string[]): Promise<number> =>
  db.run(sql`select ${notifications(integrationIds)}`);

/**
 * Wakes the workers after the commit of a batch. PostgreSQL lets transactions that notify commit one after the other, on the whole
 * server and each with its flush to the disk: batches would wait for those of all other gateways. What is to be woken while a
 * notification is on its way goes with the next one, and none of them waits for the disk.
 *
 * It goes over the connections that point reads share: while thousands of devices log in, the pool has none free for seconds, and
 * the webhook of a call for help would wait with them. One at a time is on its way, so it holds up few of those reads.
 */
export class LaneWaker {
  readonly #db: Pick<Database, "point">;
  readonly #log: Logger;
  readonly #waiting = new Set<string>();
  #isSending = false;

  constructor(db: Pick<Database, "point">, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  wake(integrationIds: readonly string[]): void {
    for (const id of integrationIds) this.#waiting.add(id);
    if (this.#waiting.size > 0 && !this.#isSending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    let isRetry = false;
    while (this.#waiting.size > 0) {
      const ids = [...this.#waiting];
      this.#waiting.clear();
      try {
        await this.#db.point.run(sql`select set_config('synchronous_commit', 'off', true), ${notifications(ids)}`);
        isRetry = false;
      } catch (error) {
        this.#log.debug({ err: error, isRetry }, "workers could not be woken");
        // A connection that was lost is opened again; what fails twice is left to the sweep.
        if (!isRetry) for (const id of ids) this.#waiting.add(id);
        isRetry = !isRetry;
      }
    }
    this.#isSending = false;
  }
}
