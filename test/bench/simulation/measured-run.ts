/** One run of the ingest load as `npm run bench -- queues` writes it. CPU in microseconds a packet. */
export interface MeasuredRun {
  devices: number;
  /** Packets a second that were sent; 0: each device sends the next one when the last is answered. */
  rate: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  packetsPerBatch: number;
  programUs: number;
  databaseUs: number;
  deviceUs: number;
  flushMs: number;
}

export interface MeasuredRuns {
  cores: number;
  roundTripUs: number;
  /** Core microseconds a second of a service that has nothing to do. */
  idle: { programUs: number; databaseUs: number };
  runs: MeasuredRun[];
}
