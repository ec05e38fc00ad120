import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { Database, Db } from "./database.ts";
import { distributedTables } from "./distributed-tables.ts";
import { isLost } from "./failures.ts";
import { routedReads } from "./routed-reads.ts";

/** A server that failed is left alone for so long. */
const defaultRestMs = 5000;

export interface HotServer {
  /** Host and port, for people. */
  name: string;
  db: Database;
}

export interface HotServersOptions {
  main: Database;
  servers: readonly HotServer[];
  log: Logger;
  metrics: Metrics;
  restMs?: number;
}

interface ServerState extends HotServer {
  /** It has been seen to be a node of the cluster of the main database. */
  isKnown: boolean;
  isUp: boolean;
  restsUntilMs: number;
}

/** Why a server cannot answer for the tables that the main database spreads over its workers; undefined: it can. */
export async function hotServerProblem(main: Db, server: Db): Promise<string | undefined> {
  const [own, other] = await Promise.all([clusterOf(main), clusterOf(server)]);
  if (own === undefined) return "the database of DATABASE_URL is not distributed: run vigil db distribute";
  if (other === undefined) return "it is no node of a distributed database";
  return own === other ? undefined : "it is a node of another cluster than DATABASE_URL";
}

/** The shards of the spread tables, which every node of a cluster knows by the same numbers. */
async function clusterOf(db: Db): Promise<string | undefined> {
  const { catalog } = await db.one<{ catalog: string | null }>`select to_regclass('pg_dist_shard')::text as catalog`;
  if (catalog === null) return undefined;
  const tables = distributedTables.map(({ table }) => table);
  const { shards } = await db.one<{ shards: string | null }>`
    select string_agg(shardid::text, ',' order by shardid) as shards from pg_dist_shard
    where logicalrelid = any(array(select to_regclass(name) from unnest(${tables}::text[]) name))`;
  return shards ?? undefined;
}

/**
 * Workers of a distributed database, which answer reads of the tables that are spread over them, in turn, so that the rows of
 * history do not pass through the coordinator. Each of them knows where every row is and sees what was committed, so a read sees
 * the same as on the main database. One that does not answer rests, and the main database is read.
 */
export class HotServers {
  readonly #options: HotServersOptions;
  readonly #states: ServerState[];
  readonly #countHot: () => void;
  readonly #countMain: () => void;
  #turn = 0;

  constructor(options: HotServersOptions) {
    this.#options = options;
    this.#states = options.servers.map((server) => ({ ...server, isKnown: false, isUp: true, restsUntilMs: 0 }));
    const reads = options.metrics.counter(
      "vigil_spread_reads_total",
      "Reads of tables that are spread over workers, by the server that answered.",
    );
    this.#countHot = reads.at({ server: "worker" });
    this.#countMain = reads.at({ server: "main" });
    options.metrics.gauge("vigil_hot_servers_up", "Servers of VIGIL_DATABASE_HOT_URLS that can be used.", () =>
      this.#states.reduce((count, { isUp }) => count + (isUp ? 1 : 0), 0),
    );
  }

  /** For one call: `shareOf` gives its share of a server. */
  choose(main: Db, shareOf: (db: Database) => Db): Db {
    return routedReads(async (from) => {
      const server = this.#next();
      if (server && (await this.#isUsable(server))) {
        try {
          const result = await from(shareOf(server.db));
          server.isUp = true;
          this.#countHot();
          return result;
        } catch (error) {
          if (!isLost(error)) throw error;
          this.#rest(server, error);
        }
      }
      this.#countMain();
      return from(main);
    }, main);
  }

  #next(): ServerState | undefined {
    const nowMs = performance.now();
    for (let tried = 0; tried < this.#states.length; tried++) {
      this.#turn = (this.#turn + 1) % this.#states.length;
      const server = this.#states[this.#turn] as ServerState;
      if (nowMs >= server.restsUntilMs) return server;
    }
    return undefined;
  }

  async #isUsable(server: ServerState): Promise<boolean> {
    if (server.isKnown) return true;
    try {
      const problem = await hotServerProblem(this.#options.main, server.db.point);
      if (problem !== undefined) throw new Error(problem);
      server.isKnown = true;
      return true;
    } catch (error) {
      this.#rest(server, error);
      return false;
    }
  }

  #rest(server: ServerState, error: unknown): void {
    if (server.isUp) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.log.warn(
        { server: server.name, err: reason },
        "a worker of the database cannot be used; the main database answers instead",
      );
    }
    server.isUp = false;
    // Another server may answer under this address when it is back.
    server.isKnown = false;
    server.restsUntilMs = performance.now() + (this.#options.restMs ?? defaultRestMs);
  }
}
