import type { Client } from "pg";
import type { Database } from "../db/database.ts";
import type { NodeWatch } from "../db/node-watch.ts";
import { failureOf } from "./batch-failure.ts";

/** A server that does not answer for so long is left; the next attempt finds out whether the commit was done. */
const attemptTimeoutMs = 60_000;

/** Connections for the transactions of batches, kept while they work. */
export class BatchClients {
  readonly #db: Database;
  readonly #nodes: NodeWatch | undefined;
  readonly #idle: Client[] = [];
  /** Since when. */
  readonly #busy = new Map<Client, number>();
  #watch: NodeJS.Timeout | undefined;
  readonly #distributed = new WeakSet<Client>();
  readonly #timeoutMs: number;

  constructor(db: Database, nodes: NodeWatch | undefined, timeoutMs = attemptTimeoutMs) {
    this.#db = db;
    this.#nodes = nodes;
    this.#timeoutMs = timeoutMs;
  }

  async use<T>(work: (client: Client, isDistributed: boolean) => Promise<T>): Promise<T> {
    const client = this.#idle.pop() ?? (await this.#connect());
    this.#busy.set(client, performance.now());
    try {
      const result = await work(client, this.#distributed.has(client));
      this.#idle.push(client);
      return result;
    } catch (error) {
      if (failureOf(error) === "outage") destroy(client);
      else {
        await client.query("rollback").then(
          () => this.#idle.push(client),
          () => destroy(client),
        );
      }
      throw error;
    } finally {
      this.#busy.delete(client);
    }
  }

  async #connect(): Promise<Client> {
    this.#watchBusy();
    const client = await this.#db.connect();
    const isDistributed = (await this.#nodes?.limitWaiting(client)) === true;
    if (isDistributed) this.#distributed.add(client);
    // The plans of any size of batch follow the order of its arrays: rows are locked in the order of device ids. Without the
    // values of a statement there is no plan over several nodes.
    await client.query(
      isDistributed
        ? "set enable_hashjoin = off; set enable_mergejoin = off"
        : "set plan_cache_mode = force_generic_plan; set enable_hashjoin = off; set enable_mergejoin = off",
    );
    const forget = (): void => {
      const index = this.#idle.indexOf(client);
      if (index >= 0) this.#idle.splice(index, 1);
    };
    client.on("error", forget);
    client.on("end", forget);
    return client;
  }

  /** Ends the attempts that are in progress. */
  destroyBusy(): void {
    for (const client of this.#busy.keys()) destroy(client);
  }

  /** A timer for each attempt would cost more than what it guards. */
  #watchBusy(): void {
    this.#watch ??= setInterval(() => {
      const sinceMs = performance.now() - this.#timeoutMs;
      for (const [client, begunMs] of this.#busy) if (begunMs < sinceMs) destroy(client);
    }, this.#timeoutMs / 10).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    for (const client of this.#idle.splice(0)) await client.end().catch(() => undefined);
  }
}

/** Without a farewell: the server may not be there to hear it. */
function destroy(client: Client): void {
  (client as Client & { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}
