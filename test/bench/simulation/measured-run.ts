/** One run of the ingest load as `npm run bench -- queues` writes it. CPU in microseconds a packet. */
export interface MeasuredRun {
  devices: number;
  /** Packets a second that were sent; 0: each device sends the next one when the last is answered. */
  rate: number;
  /** Integrations that are told of each packet. */
  partners: 0 | 1;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  packetsPerBatch: number;
  /** From the call that stores a batch to its end. */
  batchMs: number;
  programUs: number;
  databaseUs: number;
  deviceUs: number;
  flushMs: number;
  walBytes: number;
  /** Of the program, at the end. */
  memoryBytes: number;
  /** Of all cores, by whatever ran on the machine. */
  cpuShare: number;
  /** Pauses of the program for garbage. */
  minorGc: Pauses;
  majorGc: Pauses;
}

/** How many a second, and the mean of one. */
export interface Pauses {
  perSecond: number;
  ms: number;
}

export interface MeasuredRuns {
  conditions: string;
  cores: number;
  roundTripUs: number;
  /** Core microseconds a second of a service that has nothing to do. */
  idle: { programUs: number; databaseUs: number };
  /** On disk with indexes: positions and readings and the key of the frame for a packet, and a row of the outbound log. */
  bytes: { history: number; keys: number; log: number };
  /** Each kind of run more than once, so that their spread can be seen. */
  runs: MeasuredRun[];
}
