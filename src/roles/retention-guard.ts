import type { Db } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";

/** Beyond it one of the two clocks is wrong, and what has expired cannot be determined. */
export const maxClockDifferenceMs = 3_600_000;
/** Of one table at once. In a service that runs, one ends at a time. */
export const maxDroppedPartitions = 2;

/** How far the clock of this process is ahead of that of the database. */
export async function clockDifferenceMs(db: Db, clock: Clock): Promise<number> {
  const { now } = await db.one<{ now: Date }>`select clock_timestamp() as now`;
  return clock.nowMs() - now.getTime();
}

/**
 * Whether this process may delete what has expired. A wrong clock or a wrong setting of one process must not cost the history of
 * all: then it deletes nothing, says so, and works all the same.
 */
export class RetentionGuard {
  readonly #clock: Clock;
  readonly #log: Logger;
  #isClockWrong = false;
  #keptPartitions = 0;

  constructor(clock: Clock, log: Logger, metrics: Metrics) {
    this.#clock = clock;
    this.#log = log;
    metrics.gauge(
      "vigil_retention_stopped",
      "1 while nothing is deleted by age, because the clock is wrong or too much would be dropped at once.",
      () => [
        [{ reason: "clock" }, Number(this.#isClockWrong)],
        [{ reason: "partitions" }, Number(this.#keptPartitions > 0)],
      ],
    );
  }

  async isClockRight(db: Db): Promise<boolean> {
    const differenceMs = await clockDifferenceMs(db, this.#clock);
    const isWrong = Math.abs(differenceMs) > maxClockDifferenceMs;
    if (isWrong && !this.#isClockWrong) {
      this.#log.error(
        { differenceSeconds: Math.round(differenceMs / 1000) },
        "the clock differs from that of the database by more than an hour: nothing is deleted by age",
      );
    }
    this.#isClockWrong = isWrong;
    return !isWrong;
  }

  /** Names of partitions that have expired and were not dropped. */
  notePartitions(kept: readonly string[]): void {
    if (kept.length > 0 && kept.length !== this.#keptPartitions) {
      this.#log.error(
        { kept },
        'more than two partitions of a table have expired at once: none is dropped; if that is right, run "vigil db retention --apply"',
      );
    }
    this.#keptPartitions = kept.length;
  }
}
