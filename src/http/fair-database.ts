import type { Database, Db, Tx } from "../db/database.ts";
import { FairSlots } from "../lib/fair-slots.ts";

/** What a call uses of the database: statements, and the transaction of the call. */
export type CallDatabase = Db & Pick<Database, "transaction">;

const maxWaitMs = 5000;

/**
 * Shares of the pool for organizations. Two connections stay free for tokens, quotas and log-ins; of the others an organization
 * has 60 percent at most, so that its slow statements leave room for the calls of everybody else.
 */
function makeStatementSlots(poolSize: number): FairSlots {
  const slots = Math.max(1, poolSize - 2);
  const slotsPerTenant = Math.ceil(slots * 0.6);
  return new FairSlots({ slots, slotsPerTenant, maxWaiting: 2000, maxWaitingPerTenant: 200, maxWaitMs });
}

/** Quick reads that may be under way, in all and of one organization. */
const quickSlots = { slots: 128, slotsPerTenant: 64, maxWaiting: 0, maxWaitingPerTenant: 0 };

/** Shares of organizations in the statements of one database. */
export interface StatementShares {
  /** In connections of the pool. */
  readonly pool: FairSlots;
  /** In the connections that quick reads share. */
  readonly quick: FairSlots;
}

export const makeStatementShares = (poolSize: number): StatementShares => ({
  pool: makeStatementSlots(poolSize),
  quick: new FairSlots(quickSlots),
});

/**
 * The database for one call of an organization. A statement takes a slot while it runs, and so does a transaction as a whole:
 * what the call reads beside its open transaction takes no further one, it could wait for itself.
 */
export function fairDatabase(db: Database, { pool, quick }: StatementShares, organizationId: string): CallDatabase {
  let openTransactions = 0;
  const onPool = <T>(work: () => Promise<T>): Promise<T> =>
    openTransactions > 0 ? work() : pool.run(organizationId, work);
  const limited = db.within({ onPool, takeQuick: () => quick.take(organizationId) }) as CallDatabase;
  limited.transaction = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    onPool(async () => {
      openTransactions++;
      try {
        return await db.transaction(work);
      } finally {
        openTransactions--;
      }
    });
  return limited;
}
