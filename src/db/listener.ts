import type { Client } from "pg";
import type { Logger } from "../lib/logger.ts";
import type { Database, Db } from "./database.ts";

/** Sent inside a transaction: listeners hear it when, and only if, the transaction commits. */
export const notify = (db: Db, channel: string, payload: string): Promise<number> =>
  db.run`select pg_notify(${channel}, ${payload})`;

const pingEveryMs = 5000;

/**
 * Hears NOTIFY on a connection of its own. A notification is a hint that may be lost with the connection, so whoever depends
 * on one must hold nothing while `isConnected` is false, and starts afresh on `onReset`.
 */
export class Listener {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #handlers = new Map<string, ((payload: string) => void)[]>();
  readonly #resetHandlers: (() => void)[] = [];
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  /** Channels are named before `start`. */
  on(channel: string, handler: (payload: string) => void): void {
    this.#handlers.set(channel, [...(this.#handlers.get(channel) ?? []), handler]);
  }

  /** Called each time the connection is lost and each time it is back. */
  onReset(handler: () => void): void {
    this.#resetHandlers.push(handler);
  }

  async start(): Promise<void> {
    await this.#connect();
  }

  async #connect(): Promise<void> {
    const client = await this.#db.connect();
    const lost = (): void => this.#lose(client);
    client.on("error", lost);
    client.on("end", lost);
    client.on("notification", ({ channel, payload }) => {
      for (const handler of this.#handlers.get(channel) ?? []) handler(payload ?? "");
    });
    for (const channel of this.#handlers.keys()) await client.query(`listen ${client.escapeIdentifier(channel)}`);
    if (this.#closed) return client.end();
    this.#client = client;
    this.#reset();
    this.#timer = setTimeout(() => this.#ping(client), pingEveryMs);
  }

  /** A half-open TCP connection hears nothing and reports nothing; only asking finds out. */
  #ping(client: Client): void {
    const deadline = setTimeout(() => this.#lose(client), pingEveryMs);
    client.query("select 1").then(
      () => {
        clearTimeout(deadline);
        if (this.#client === client) this.#timer = setTimeout(() => this.#ping(client), pingEveryMs);
      },
      () => {
        clearTimeout(deadline);
        this.#lose(client);
      },
    );
  }

  #lose(client: Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    clearTimeout(this.#timer);
    client.end().catch(() => undefined);
    this.#reset();
    if (!this.#closed) this.#reconnect(100);
  }

  #reconnect(pauseMs: number): void {
    this.#timer = setTimeout(() => {
      this.#connect().catch((error: Error) => {
        this.#log.warn({ err: error.message }, "the notification connection is down; retrying");
        if (!this.#closed) this.#reconnect(Math.min(pauseMs * 2, 5000));
      });
    }, pauseMs);
  }

  #reset(): void {
    for (const handler of this.#resetHandlers) handler();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    await client?.end();
  }
}
