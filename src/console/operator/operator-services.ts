/** What the program gives to the pages of operators from rooms that the console does not know. */
export interface OperatorServices {
  /** The checks of `vigil doctor`, as seen by this process. */
  checkHealth(): Promise<{ ok: boolean; checks: { name: string; ok: boolean; detail: string }[] }>;
  /** Stores packets that were set aside: the given ones, those of a device, or all; the latest of them, up to the limit. */
  retryPackets(which: { ids?: readonly string[]; uid?: string }, limit: number): Promise<RetryOutcome>;
}

export interface RetryOutcome {
  retried: number;
  stored: number;
  failed: number;
}
