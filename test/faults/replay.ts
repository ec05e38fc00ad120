import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { followWhileWriting } from "../support/exact-replay.ts";
import type { FaultOptions } from "./faults.ts";

const perRound = 100;

/** Eight writers in two processes with different clocks, and readers that must miss nothing; a hundred transactions each per round. */
export async function replayFaults({ rounds }: FaultOptions): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), "vigil-faults-"));
  const log = makeLogger("silent");
  const server = await openEmbeddedServer({ dataDir, log, purpose: "command", transport: "tcp" });
  try {
    const { host, port, user, password, database } = server.connection;
    const db = openDatabase({ connection: server.connection, log });
    await migrate(db, makeClock());
    await db.close();
    const url = `postgresql://${user}:${encodeURIComponent(String(password ?? ""))}@${host}:${port}/${database}`;
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
    await server.release();
    await rm(dataDir, { recursive: true, force: true });
  }
}
