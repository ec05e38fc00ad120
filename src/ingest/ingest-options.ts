import type { Database } from "../db/database.ts";
import type { NodeWatch } from "../db/node-watch.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { RecentWaits } from "../lib/recent-waits.ts";
import type { StoreOptions } from "./batch.ts";

export interface IngestOptions extends StoreOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  /** Transactions at a time, 1 or 2; one more may run for alarms. */
  inFlight: number;
  /** So many packets must wait for a second transaction to begin beside the first, instead of `packetsForSecondBatch`. */
  secondBatchThreshold?: number;
  offlineAfterMs: number;
  /** On a distributed database the devices of a node that is away wait alone. */
  nodes?: NodeWatch;
  /** True while there is hardly any room on the disk. */
  takesOnlyAlarms?: () => boolean;
  /** Where it is noted how long the oldest packet of each batch has waited. */
  waits?: RecentWaits;
}
