import { openDatabase } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { followWhileWriting } from "../support/exact-replay.ts";
import { openFaultDatabase } from "./fault-database.ts";
import type { FaultOptions } from "./faults.ts";
import { migrateAndDistribute } from "./served-database.ts";

const perRound = 100;

/** Eight writers in two processes with different clocks, and readers that must miss nothing; a hundred transactions each per round. */
export async function replayFaults({ rounds, citusBin }: FaultOptions): Promise<boolean> {
  const { url, connection, nodes, close } = await openFaultDatabase(citusBin);
  try {
    if (nodes) await migrateAndDistribute({ DATABASE_URL: url });
    else {
      const db = openDatabase({ connection, log: makeLogger("silent") });
      await migrate(db, makeClock());
      await db.close();
    }
    let isExact = true;
    for (let round = 1; round <= rounds; round++) {
      for (const { seen, stored, polls } of await followWhileWriting(url, perRound, 60)) {
        const missing = stored.filter((id) => !seen.includes(id)).length;
        const isSame = seen.length === stored.length && seen.every((id, index) => id === stored[index]);
        isExact &&= isSame;
        console.log(
          `  round ${round}: ${stored.length} rows, ${polls} polls, ${missing} missing, ${isSame ? "in order" : "NOT THE SAME"}`,
        );
      }
    }
    return isExact;
  } finally {
    await close();
  }
}
