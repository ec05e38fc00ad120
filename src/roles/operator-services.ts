import type { Config } from "../config.ts";
import type { OperatorServices } from "../console/operator/operator-services.ts";
import type { Database } from "../db/database.ts";
import { findPoisoned, listPoisoned } from "../ingest/poison-store.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { checkDatabase, runChecks } from "./doctor.ts";
import { retryPoisoned } from "./poisoned-retry.ts";

interface OperatorParts {
  db: Database;
  clock: Clock;
  log: Logger;
  config: Config;
}

/** What the pages of operators share with the command line. One of each runs at a time: they are not for many. */
export function makeOperatorServices(parts: OperatorParts): OperatorServices {
  const { db, clock, log, config } = parts;
  let health: ReturnType<OperatorServices["checkHealth"]> | undefined;
  let retrying: Promise<unknown> = Promise.resolve();
  const onFailure = ({ id }: { id: string }, reason: string): void =>
    log.info({ packet: id, reason }, "a poisoned packet was retried and could not be stored");
  return {
    checkHealth() {
      health ??= runHealthChecks(db, config, clock).finally(() => {
        health = undefined;
      });
      return health;
    },
    retryPackets({ ids, uid }, limit) {
      const work = async () => {
        const packets = ids ? await findPoisoned(db, ids) : await listPoisoned(db, uid, limit);
        return packets.length === 0
          ? { retried: 0, stored: 0, failed: 0 }
          : retryPoisoned({ db, clock, log, config, onFailure }, packets);
      };
      const result = retrying.then(work, work);
      retrying = result.catch(() => undefined);
      return result;
    },
  };
}

async function runHealthChecks(db: Database, config: Config, clock: Clock) {
  const checks = await runChecks(config, await checkDatabase(db, config, clock.nowMs()));
  return { ok: checks.every(({ ok }) => ok), checks };
}
