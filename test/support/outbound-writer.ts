/** A process of its own with four writers of the outbound log, whose transactions overlap and some of which are undone. */

import { openDatabase } from "../../src/db/database.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { appendOutbound } from "../../src/outbox/outbound-log.ts";
import type { WriterOptions } from "./exact-replay.ts";

const options = JSON.parse(process.argv[2] as string) as WriterOptions;
const clock = makeClock(options.clockOffsetSeconds);
const db = openDatabase({ connection: { connectionString: options.url }, log: makeLogger("silent") });
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
class Undone extends Error {}

async function write(writer: number): Promise<void> {
  for (let n = 0; n < options.transactions; n++) {
    const chosen = options.organizationIds.filter(() => Math.random() < 0.7).toSorted(() => Math.random() - 0.5);
    await db
      .transaction(async (tx) => {
        const entries = chosen.flatMap((organizationId) =>
          Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => ({
            organizationId,
            type: "alarm.sos" as const,
            deviceUid: "490154203237518",
            occurredAtMs: clock.nowMs(),
            data: { process: process.pid, writer, n },
          })),
        );
        await tx.run`select 1`;
        await pause(Math.random() * options.holdMs);
        await appendOutbound(tx, entries, clock.nowMs());
        // The ids are given and locked; the commit takes its time.
        if (Math.random() < 0.3) await pause(Math.random() * options.holdMs);
        if (Math.random() < 0.1) throw new Undone();
      })
      .catch((error: unknown) => {
        if (!(error instanceof Undone)) throw error;
      });
  }
}

await Promise.all([0, 1, 2, 3].map(write));
await db.close();
