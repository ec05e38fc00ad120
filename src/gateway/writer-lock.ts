import type { Client } from "pg";
import type { Database } from "../db/database.ts";
import type { Logger } from "../lib/logger.ts";
import { holdWriterLock } from "../resources/commands/orphaned-commands.ts";

const pauseMs = 1000;

/** Says to the other processes that this one lives, and takes the lock again when its connection was lost. */
export class WriterLock {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #nodeId: string;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Done after the first attempt, held or not. */
  readonly taken: Promise<void>;

  constructor(db: Database, log: Logger, nodeId: string) {
    this.#db = db;
    this.#log = log;
    this.#nodeId = nodeId;
    this.taken = this.#take();
  }

  async #take(): Promise<void> {
    try {
      const client = await holdWriterLock(this.#db, this.#nodeId);
      if (this.#isClosed) return await client.end();
      this.#client = client;
      client.once("end", () => this.#takeLater());
    } catch (error) {
      this.#log.warn({ err: (error as Error).message }, "the command writer lock is not held; retrying");
      this.#takeLater();
    }
  }

  #takeLater(): void {
    this.#client = undefined;
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#take(), pauseMs);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.taken;
    await this.#client?.end().catch(() => undefined);
  }
}
