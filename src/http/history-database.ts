import type { Database, Db } from "../db/database.ts";
import type { HotServers } from "../db/hot-servers.ts";
import type { ReadReplica } from "../db/read-replica.ts";
import { fairDatabase, type StatementShares } from "./fair-database.ts";

/** Where long reads of history may go instead of the main database. */
export interface HistoryReads {
  replica: ReadReplica;
  db: Database;
  /** Shares of organizations in the statements that run there. */
  statements: StatementShares;
}

/** For one call of an organization; `main` has its share of the main database. */
export const historyDatabase = ({ replica, db, statements }: HistoryReads, main: Db, organizationId: string): Db =>
  replica.choose(main, fairDatabase(db, statements, organizationId));

/** Where reads of the tables go that a distributed database spreads over its workers. */
export interface SpreadReads {
  servers: HotServers;
  /** Shares of organizations in the statements that run on all of them. */
  statements: StatementShares;
}

/** For one call of an organization; `main` has its share of the main database. */
export const spreadDatabase = ({ servers, statements }: SpreadReads, main: Db, organizationId: string): Db =>
  servers.choose(main, (db) => fairDatabase(db, statements, organizationId));
