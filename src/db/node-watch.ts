import type { Client } from "pg";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";
import { type Database, onClient } from "./database.ts";
import { distributedTables } from "./distributed-tables.ts";
import { isUnavailable } from "./failures.ts";

export interface NodeWaits {
  /** A node that lets nobody in for so long is away. */
  answerMs: number;
  /** A statement that waits for a node ends after so long: nothing else would end it while the node hangs. */
  statementMs: number;
  /** While a node is away. */
  lookEveryMs: number;
}

const defaultWaits: NodeWaits = { answerMs: 3000, statementMs: 10_000, lookEveryMs: 2000 };
/** It may be distributed while the service runs. */
const plainRestMs = 60_000;
const maxKnownDevices = 200_000;

export interface NodeWatchOptions {
  db: Database;
  log: Logger;
  metrics: Metrics;
  waits?: Partial<NodeWaits>;
}

const { table } = distributedTables[0] as (typeof distributedTables)[number];

/**
 * Knows which nodes of a distributed database do not answer, and which devices have their rows there, so that only those wait.
 * It asks when a statement has failed, and then until all nodes answer again; the coordinator tries them on a connection of its
 * own. While they answer, or on a database that is not distributed, it asks nothing.
 */
export class NodeWatch {
  readonly #options: NodeWatchOptions;
  readonly #waits: NodeWaits;
  #away: ReadonlySet<string> = new Set();
  readonly #nodeOf = new Map<string, string>();
  readonly #listeners: (() => void)[] = [];
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #restsUntilMs = 0;
  #isClosed = false;

  constructor(options: NodeWatchOptions) {
    this.#options = options;
    this.#waits = { ...defaultWaits, ...options.waits };
    options.metrics.gauge(
      "vigil_database_nodes_away",
      "Nodes of a distributed database that do not answer: the devices whose rows they have wait.",
      () => this.#away.size,
    );
  }

  /** True: every device can be reached, as far as is known. */
  get isWhole(): boolean {
    return this.#away.size === 0;
  }

  /** Calls when other nodes are away than before. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** For connections whose statements others wait for. True: the database is distributed. */
  async limitWaiting(client: Client): Promise<boolean> {
    if (!(await isDistributed(client))) return false;
    const { statementMs, answerMs } = this.#waits;
    await client.query(`set statement_timeout = ${statementMs}; set citus.node_connection_timeout = ${answerMs}`);
    return true;
  }

  /** Tries all nodes if one of them may be why a statement has failed. */
  async noteFailure(error: unknown): Promise<void> {
    if (!this.#isClosed && isRefusal(error) && performance.now() >= this.#restsUntilMs) await this.#look();
  }

  isKnownAway(deviceId: string): boolean {
    const node = this.#nodeOf.get(deviceId);
    return node !== undefined && this.#away.has(node);
  }

  /** Those of the devices that have their rows on a node that is away. */
  async findAway(deviceIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (this.isWhole) return new Set();
    const unknown = deviceIds.filter((id) => !this.#nodeOf.has(id));
    if (unknown.length > 0) {
      const found = await this.#options.db.many<{ id: string; node: string }>`
        select d.id, n.nodename || ':' || n.nodeport as node
        from unnest(${unknown}::uuid[]) d (id)
        join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column(${table}, d.id)
        join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'`;
      if (this.#nodeOf.size + found.length > maxKnownDevices) this.#nodeOf.clear();
      for (const { id, node } of found) this.#nodeOf.set(id, node);
    }
    return new Set(deviceIds.filter((id) => this.isKnownAway(id)));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined;
      clearTimeout(this.#timer);
      if (this.isWhole || this.#isClosed) return;
      this.#timer = setTimeout(() => void this.#look(), this.#waits.lookEveryMs);
      this.#timer.unref();
    });
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    try {
      this.#take(await this.#readAway());
    } catch (error) {
      // The coordinator is away too: what is known of the others stays.
      this.#options.log.debug({ err: (error as Error).message }, "the nodes of the database could not be tried");
    }
  }

  async #readAway(): Promise<string[]> {
    const client = await this.#options.db.connect();
    try {
      if (!(await isDistributed(client))) {
        this.#restsUntilMs = performance.now() + plainRestMs;
        return [];
      }
      await client.query(`set statement_timeout = 60000; set citus.node_connection_timeout = ${this.#waits.answerMs}`);
      const nodes = await onClient(client).many<{ name: string; answers: boolean }>`
        select nodename || ':' || nodeport as name, citus_check_connection_to_node(nodename, nodeport) as answers
        from pg_dist_node
        where noderole = 'primary' and isactive and groupid in (
          select p.groupid from pg_dist_placement p join pg_dist_shard s on s.shardid = p.shardid
          where s.logicalrelid = ${table}::regclass)`;
      return nodes.filter(({ answers }) => !answers).map(({ name }) => name);
    } finally {
      await client.end();
    }
  }

  #take(names: readonly string[]): void {
    const before = this.#away;
    if (names.length === before.size && names.every((name) => before.has(name))) return;
    this.#away = new Set(names);
    // Shards may have been moved meanwhile.
    this.#nodeOf.clear();
    const { log } = this.#options;
    const lost = names.filter((name) => !before.has(name));
    const back = [...before].filter((name) => !this.#away.has(name));
    if (lost.length > 0) log.warn({ nodes: lost }, "nodes of the database do not answer; their devices wait");
    if (back.length > 0) log.info({ nodes: back }, "nodes of the database answer again");
    for (const listener of this.#listeners) listener();
  }
}

async function isDistributed(client: Client): Promise<boolean> {
  const { rows } = await client.query("select to_regclass('pg_dist_node') is not null as has_citus");
  if (rows[0]?.has_citus !== true) return false;
  const found = await client.query("select from pg_dist_partition where logicalrelid = $1::regclass", [table]);
  return found.rowCount === 1;
}

/** The server itself says that the statement has failed: its transaction has stored nothing. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Error && "severity" in error && error.severity === "ERROR";

/** The server answers and cannot reach another one. */
export const isNodeFailure = (error: unknown): boolean => isRefusal(error) && isUnavailable(error);
