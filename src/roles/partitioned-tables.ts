import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { maintainPartitions, type PartitionedTable } from "../db/partitions.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { maxDroppedPartitions, type RetentionGuard } from "./retention-guard.ts";

const logSpans = {
  by: "uuid7",
  spanDays: 1,
  pastSpans: 1,
  futureSpans: 3,
  retentionDays: 30,
  defaultPrunedBy: "id",
} as const;

/**
 * Tables that are partitioned by time, in one place so that the worker that makes partitions knows them all. Times of packets
 * lie at most 30 days back; the days of ingest_frames are those of devices' own clocks, which may say anything.
 */
export const partitionedTables: readonly PartitionedTable[] = [
  { table: "outbound_events", ...logSpans },
  { table: "delivery_attempts", ...logSpans },
  { table: "locations", by: "time", spanDays: 28, formerSpanDays: 7, pastSpans: 2, futureSpans: 1 },
  { table: "telemetry", by: "time", spanDays: 28, formerSpanDays: 7, pastSpans: 2, futureSpans: 1 },
  {
    table: "ingest_frames",
    by: "date",
    spanDays: 7,
    pastSpans: 5,
    futureSpans: 2,
    retentionDays: 42,
    defaultPrunedBy: "received_at",
  },
];

/** The outbound log is kept as long as the operator says. */
const tablesOfTheLog: ReadonlySet<string> = new Set(["outbound_events", "delivery_attempts"]);

export const tablesOf = ({ retentionDays }: Config): PartitionedTable[] =>
  partitionedTables.map((table) => (tablesOfTheLog.has(table.table) ? { ...table, retentionDays } : table));

export async function keepPartitions(
  db: Database,
  tables: readonly PartitionedTable[],
  clock: Clock,
  log: Logger,
  guard: RetentionGuard,
): Promise<void> {
  const isClockRight = await guard.isClockRight(db);
  const limits = { isClockRight, maxPerTable: maxDroppedPartitions };
  const { created, dropped, kept } = await maintainPartitions(db, tables, clock.nowMs(), limits);
  if (isClockRight) guard.notePartitions(kept);
  if (created.length + dropped.length > 0) log.info({ created, dropped }, "partitions maintained");
}
