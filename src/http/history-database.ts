import type { Database, Db } from "../db/database.ts";
import type { ReadReplica } from "../db/read-replica.ts";
import type { FairSlots } from "../lib/fair-slots.ts";
import { fairDatabase } from "./fair-database.ts";

/** Where long reads of history may go instead of the main database. */
export interface HistoryReads {
  replica: ReadReplica;
  db: Database;
  /** Shares of organizations in the statements that run there. */
  statements: FairSlots;
}

/** For one call of an organization; `main` has its share of the main database. */
export const historyDatabase = ({ replica, db, statements }: HistoryReads, main: Db, organizationId: string): Db =>
  replica.choose(main, fairDatabase(db, statements, organizationId));
