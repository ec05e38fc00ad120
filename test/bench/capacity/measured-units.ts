export interface UnitCost {
  programUs: number;
  databaseUs: number;
}

/** What `npm run bench -- unit-costs` writes. CPU in microseconds. */
export interface MeasuredUnits {
  conditions: string;
  /** Of packets that come meanwhile. */
  delivery: UnitCost & { walBytes: number; diskBytes: number };
  /** Of rows that wait in long pages. */
  deliveryFromBacklog: UnitCost;
  /** By what is read. */
  calls: Record<string, UnitCost>;
  /** Of a device on disk: its record, state and session. */
  deviceBytes: number;
  /** Memory that a connection of the database has for itself. */
  databaseConnectionBytes: number;
  /** What the log of the database grows by beyond the usual at the first, second … packet of each device after a checkpoint. */
  firstTouchWalBytes: number[];
}
