import { Client, type ClientConfig } from "pg";
import type { Tracer } from "../tracing/tracer.ts";
import { type NamedStatement, type Outcome, PreparedConnection } from "./prepared-read.ts";
import type { Statement } from "./sql.ts";
import { traceStatements } from "./traced-client.ts";

export interface SharedConnectionOptions {
  config: ClientConfig & { types: NonNullable<ClientConfig["types"]> };
  connectTimeoutMs: number;
  tracer: Tracer | undefined;
  /** Set by a statement: the address of the database wins over the configuration, and a pooler may ignore both. */
  statementTimeoutMs?: number;
}

const isNamed = (statement: Statement): statement is NamedStatement => statement.name !== undefined;

interface Opened {
  client: Client;
  prepared: PreparedConnection;
}

/** One connection that carries many statements at once, in order; opened again when it was lost. */
export class SharedConnection {
  readonly #options: SharedConnectionOptions;
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;
  #waiting = 0;
  #heardMs = 0;

  constructor(options: SharedConnectionOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#opened !== undefined;
  }

  /** Statements without an answer. */
  get waiting(): number {
    return this.#waiting;
  }

  /** How long the first statement has waited since the last answer; what is sent now waits behind it. */
  stalledMs(nowMs: number): number {
    return this.#waiting === 0 ? 0 : nowMs - this.#heardMs;
  }

  /** `onAnswer` is told how long the statement took, without the wait behind others. */
  async query(statement: Statement, onAnswer?: (ms: number) => void): Promise<Outcome> {
    const { client, prepared } = this.#opened ?? (await this.open());
    const sentMs = performance.now();
    if (this.#waiting++ === 0) this.#heardMs = sentMs;
    try {
      return await (isNamed(statement) ? prepared.query(statement) : client.query(statement));
    } finally {
      const nowMs = performance.now();
      onAnswer?.(nowMs - Math.max(sentMs, this.#heardMs));
      this.#waiting--;
      this.#heardMs = nowMs;
    }
  }

  open(): Promise<Opened> {
    if (this.#opening) return this.#opening;
    // One that is lost says so twice; by then another may be open.
    const forget = (): void => {
      if (this.#opening !== opening) return;
      this.#opening = undefined;
      this.#opened = undefined;
    };
    const opening: Promise<Opened> = this.#connect(forget);
    opening.then(
      (opened) => {
        if (this.#opening === opening) this.#opened = opened;
      },
      () => forget(),
    );
    this.#opening = opening;
    return opening;
  }

  async #connect(onLost: () => void): Promise<Opened> {
    const { config, connectTimeoutMs, tracer, statementTimeoutMs } = this.#options;
    const pipelined = { ...config, pipeline: true, connectionTimeoutMillis: connectTimeoutMs };
    const client = new Client(pipelined as ClientConfig);
    client.on("error", onLost);
    client.on("end", onLost);
    await client.connect();
    if (statementTimeoutMs !== undefined) await limitStatements(client, statementTimeoutMs);
    if (tracer) traceStatements(client, tracer);
    return { client, prepared: new PreparedConnection(client, config.types) };
  }

  async close(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.client.end();
  }
}

async function limitStatements(client: Client, timeoutMs: number): Promise<void> {
  try {
    await client.query(`set statement_timeout = ${timeoutMs}`);
  } catch (error) {
    void client.end();
    throw error;
  }
}
