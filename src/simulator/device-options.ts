/** How a virtual device behaves in time. Tests make it hurry. */
export interface Timings {
  /** A sign of life when nothing else was said for so long. */
  heartbeatMs: number;
  /** Without the answer for so long, the same packet is sent again. */
  answerTimeoutMs: number;
  /** So often; then the device gives the connection up. */
  maxAttempts: number;
  connectTimeoutMs: number;
  /** From the order to the result of a measurement. */
  measureMs: number;
  restartMs: number;
  /** Somebody switches the watch on again. */
  powerOffMs: number;
  trackEveryMs: number;
  trackForMs: number;
  /** Waits before the next attempt to connect; the last one repeats. */
  backoffMs: readonly number[];
}

export const watchTimings: Timings = {
  heartbeatMs: 240_000,
  answerTimeoutMs: 30_000,
  maxAttempts: 3,
  connectTimeoutMs: 20_000,
  measureMs: 4_000,
  restartMs: 15_000,
  powerOffMs: 60_000,
  trackEveryMs: 10_000,
  trackForMs: 180_000,
  backoffMs: [1_000, 2_000, 5_000, 10_000, 30_000, 60_000],
};

/** Reports kept while there is no connection; a watch has little memory, and there are thousands of them here. */
export const maxStored = 100;
