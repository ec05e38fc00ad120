import { Client, type ClientConfig, Pool, type PoolClient, type QueryResultRow, types } from "pg";
import type { Logger } from "../lib/logger.ts";
import type { Tracer } from "../tracing/tracer.ts";
import { isRetryable, isUnavailable, PoolExhausted } from "./failures.ts";
import type { Outcome } from "./prepared-read.ts";
import { maxQuickMs, QuickReads } from "./quick-reads.ts";
import { SharedConnection } from "./shared-connections.ts";
import { Sql, type Statement, StatementNames } from "./sql.ts";
import { parseUtcTimestamp } from "./timestamps.ts";
import { traceStatements } from "./traced-client.ts";

type Template = TemplateStringsArray | Sql;

/** Runs statements: on the pool, on a pipelined lane, or inside a transaction. */
export interface Db {
  many<T extends QueryResultRow>(statement: Template, ...values: readonly unknown[]): Promise<T[]>;
  /** The only row; throws when there is not exactly one. */
  one<T extends QueryResultRow>(statement: Template, ...values: readonly unknown[]): Promise<T>;
  maybeOne<T extends QueryResultRow>(statement: Template, ...values: readonly unknown[]): Promise<T | undefined>;
  /** The number of rows written. */
  run(statement: Template, ...values: readonly unknown[]): Promise<number>;
}

export interface Tx extends Db {
  /** Runs after a successful commit; for wake-ups and caches of this process. */
  afterCommit(hook: () => void): void;
  /** Undoes the work alone when it throws, and keeps the transaction usable. */
  savepoint<T>(work: () => Promise<T>): Promise<T>;
  /** The trace that the transaction belongs to, as a header; null: none is recorded. */
  readonly traceparent: string | null;
}

export interface Database extends Db {
  /** Point reads by key: pipelined on few connections. Not for anything that may take long, it would hold up the others. */
  readonly point: Db;
  /** Statements within limits. Reads that have proved quick share connections; the others have one of the pool each. */
  within(limits: StatementLimits): Db;
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** A connection of its own, outside the pool, for LISTEN and session locks. The caller ends it. */
  connect(): Promise<Client>;
  close(): Promise<void>;
}

/** What a caller may use of the connections at a time. */
export interface StatementLimits {
  /** Runs a statement that has a connection of the pool to itself. */
  onPool<T>(work: () => Promise<T>): Promise<T>;
  /** Room for one more quick read, to be given back by the function; undefined: there is none now. */
  takeQuick(): (() => void) | undefined;
}

type Execute = (statement: Statement) => Promise<Outcome>;

const int8 = 20;
const numeric = 1700;
const timestamptz = 1184;

/** Identities and counts stay far below 2^53, and a JSON answer wants a number. */
const parsers = {
  getTypeParser: (oid: number, format?: "text" | "binary") => {
    if (oid === int8 || oid === numeric) return Number;
    const parser = types.getTypeParser(oid, format as "text") as (text: string) => unknown;
    return oid === timestamptz ? (text: string) => parseUtcTimestamp(text) ?? parser(text) : parser;
  },
};

function makeDb(names: StatementNames, execute: Execute): Db {
  const send = (statement: Template, values: readonly unknown[]): Promise<Outcome> =>
    execute(names.compile(statement instanceof Sql ? statement : new Sql(statement, values)));
  return {
    many: async <T>(statement: Template, ...values: readonly unknown[]) => (await send(statement, values)).rows as T[],
    one: async <T>(statement: Template, ...values: readonly unknown[]) => {
      const { rows } = await send(statement, values);
      if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}`);
      return rows[0] as T;
    },
    maybeOne: async <T>(statement: Template, ...values: readonly unknown[]) =>
      (await send(statement, values)).rows[0] as T | undefined,
    run: async (statement, ...values) => (await send(statement, values)).rowCount ?? 0,
  };
}

/** Statements on a connection whose transaction somebody else began and will end. */
export const onClient = (client: Client): Db => makeDb(new StatementNames(), (statement) => client.query(statement));

export interface DatabaseOptions {
  connection: ClientConfig;
  log: Logger;
  poolSize?: number;
  laneSize?: number;
  acquireTimeoutMs?: number;
  statementTimeoutMs?: number;
  /** A connection of quick reads that is silent for longer is given up. */
  quickAnswerTimeoutMs?: number;
  tracer?: Tracer | undefined;
}

export function openDatabase(options: DatabaseOptions): Database {
  const {
    connection,
    log,
    tracer,
    poolSize = 10,
    laneSize = 2,
    acquireTimeoutMs = 5000,
    statementTimeoutMs = 30_000,
    // As many as may wait on one connection, each ended after 50 ms, take 3.2 s.
    quickAnswerTimeoutMs = 5000,
  } = options;
  const names = new StatementNames();
  const config: ClientConfig = {
    ...connection,
    types: parsers,
    keepAlive: true,
    // Without it the system probes an idle connection after two hours.
    keepAliveInitialDelayMillis: 10_000,
    application_name: "vigil",
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 60_000,
  };
  const pool = new Pool({
    ...config,
    max: poolSize,
    connectionTimeoutMillis: acquireTimeoutMs,
    idleTimeoutMillis: 30_000,
  });
  pool.on("error", (error) => log.warn({ err: error.message }, "an idle database connection was lost"));
  // The pool listens only to idle connections. One that is lost in use, between two statements, would end the process; its
  // next statement fails, and says so to whoever sent it.
  pool.on("connect", (client) => client.on("error", () => undefined));
  if (tracer) pool.on("connect", (client) => traceStatements(client, tracer));
  const shared = { config: { ...config, types: parsers }, connectTimeoutMs: acquireTimeoutMs, tracer };
  const lanes = Array.from({ length: laneSize }, () => new SharedConnection(shared));
  const quickTimeoutMs = Math.min(maxQuickMs, statementTimeoutMs);
  const quickConfig = { ...shared.config, query_timeout: quickAnswerTimeoutMs };
  const sharedQuick = { ...shared, config: quickConfig, statementTimeoutMs: quickTimeoutMs };
  const quickLanes = Array.from({ length: laneSize }, () => new SharedConnection(sharedQuick));
  const quick = new QuickReads(quickLanes);
  let turn = 0;

  const acquire = async (): Promise<PoolClient> => {
    try {
      return await pool.connect();
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("timeout exceeded")) throw new PoolExhausted();
      throw error;
    }
  };

  const runOnPool: Execute = async (statement) => {
    const client = await acquire();
    let broken: Error | undefined;
    try {
      return await quick.timed(statement, () => client.query(statement));
    } catch (error) {
      if (isUnavailable(error)) broken = error as Error;
      throw error;
    } finally {
      client.release(broken);
    }
  };

  const within = ({ onPool, takeQuick }: StatementLimits): Db =>
    makeDb(names, async (statement) => {
      const connection = quick.find(statement);
      const release = connection && takeQuick();
      const outcome = release && (await quick.run(connection, statement).finally(release));
      return outcome ?? onPool(() => runOnPool(statement));
    });

  async function transactionOnce<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await acquire();
    const hooks: (() => void)[] = [];
    let broken: Error | undefined;
    let depth = 0;
    const tx: Tx = {
      ...makeDb(names, (statement) => client.query(statement)),
      afterCommit: (hook) => hooks.push(hook),
      traceparent: tracer?.current?.traceparent ?? null,
      savepoint: async (inner) => {
        const name = `s${depth++}`;
        await client.query(`savepoint ${name}`);
        try {
          const result = await inner();
          await client.query(`release savepoint ${name}`);
          return result;
        } catch (error) {
          await client.query(`rollback to savepoint ${name}`);
          throw error;
        }
      },
    };
    try {
      await client.query("begin");
      const result = await work(tx);
      await client.query("commit");
      for (const hook of hooks) hook();
      return result;
    } catch (error) {
      await client.query("rollback").catch((rollbackError: Error) => {
        broken = rollbackError;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  return {
    ...makeDb(names, runOnPool),
    point: makeDb(names, (statement) => {
      turn = (turn + 1) % lanes.length;
      return (lanes[turn] as SharedConnection).query(statement);
    }),
    within,
    transaction: async (work) => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await transactionOnce(work);
        } catch (error) {
          if (attempt >= 3 || !isRetryable(error)) throw error;
        }
      }
    },
    connect: async () => {
      const client = new Client({ ...config, connectionTimeoutMillis: acquireTimeoutMs, statement_timeout: 0 });
      client.on("error", (error) => log.debug({ err: error.message }, "a database connection was lost"));
      if (tracer) traceStatements(client, tracer);
      await client.connect();
      return client;
    },
    close: async () => {
      await Promise.all([...lanes, ...quickLanes].map((lane) => lane.close()));
      await pool.end();
    },
  };
}
