/**
 * What grows without end, and by which column Citus spreads it over its workers. Everything else stays on the coordinator, where
 * locks and notifications keep their meaning; so does the outbound log, whose order of commits partners rely on (decision 0016).
 */
export interface DistributedTable {
  table: string;
  /** First in its primary key, and named by its statements. */
  column: string;
  /** Rows of the same key are on the same worker as those of this table. Undefined: the first of its group. */
  colocateWith: string | undefined;
}

export const distributedTables: readonly DistributedTable[] = [
  { table: "locations", column: "device_id", colocateWith: undefined },
  { table: "telemetry", column: "device_id", colocateWith: "locations" },
  { table: "ingest_frames", column: "device_id", colocateWith: "locations" },
];
