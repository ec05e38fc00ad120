/**
 * What grows without end, and by which column Citus spreads it over its workers. Everything else (what coordinates, and what
 * grows with the number of devices only) stays on the coordinator, where locks and notifications keep their meaning.
 */
export interface DistributedTable {
  table: string;
  /** First in its primary key, and named by its statements. */
  column: "device_id" | "integration_id";
  /** Rows of the same key are on the same worker as those of this table. Undefined: the first of its group. */
  colocateWith: string | undefined;
}

export const distributedTables: readonly DistributedTable[] = [
  { table: "locations", column: "device_id", colocateWith: undefined },
  { table: "telemetry", column: "device_id", colocateWith: "locations" },
  { table: "ingest_frames", column: "device_id", colocateWith: "locations" },
  { table: "outbound_events", column: "integration_id", colocateWith: undefined },
  { table: "delivery_attempts", column: "integration_id", colocateWith: "outbound_events" },
];
