import type { Database, Db, Tx } from "../db/database.ts";
import { FairSlots } from "../lib/fair-slots.ts";

/** What a call uses of the database: statements, and the transaction of the call. */
export type CallDatabase = Db & Pick<Database, "transaction">;

const maxWaitMs = 5000;

/**
 * Shares of the pool for organizations. Two connections stay free for tokens, quotas and log-ins; of the others an organization
 * has 60 percent at most, so that its slow statements leave room for the calls of everybody else.
 */
export function makeStatementSlots(poolSize: number): FairSlots {
  const slots = Math.max(1, poolSize - 2);
  const slotsPerTenant = Math.ceil(slots * 0.6);
  return new FairSlots({ slots, slotsPerTenant, maxWaiting: 2000, maxWaitingPerTenant: 200, maxWaitMs });
}

/**
 * The database for one call of an organization. A statement takes a slot while it runs, and so does a transaction as a whole:
 * what the call reads beside its open transaction takes no further one, it could wait for itself.
 */
export function fairDatabase(db: Database, slots: FairSlots, organizationId: string): CallDatabase {
  let openTransactions = 0;
  const inSlot = <T>(work: () => Promise<T>): Promise<T> =>
    openTransactions > 0 ? work() : slots.run(organizationId, work);
  return {
    many: (statement, ...values) => inSlot(() => db.many(statement, ...values)),
    one: (statement, ...values) => inSlot(() => db.one(statement, ...values)),
    maybeOne: (statement, ...values) => inSlot(() => db.maybeOne(statement, ...values)),
    run: (statement, ...values) => inSlot(() => db.run(statement, ...values)),
    transaction: <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
      inSlot(async () => {
        openTransactions++;
        try {
          return await db.transaction(work);
        } finally {
          openTransactions--;
        }
      }),
  };
}
