export interface BulkResult {
  uid: string;
  ok: boolean;
  detail?: string;
}

interface BulkRun {
  uids: readonly string[];
  /** Acts on some of them and says how it went with each. */
  send(uids: readonly string[]): Promise<BulkResult[]>;
  /** All results so far, after every step. */
  onProgress(results: readonly BulkResult[]): void;
  isStopped(): boolean;
  /** Seconds after which to try again; undefined: the error ends the run. */
  waitAfter(error: unknown): number | undefined;
  pause(ms: number): Promise<void>;
}

/** Enough that a thousand devices take few calls, little enough that one sees it move. */
export const devicesAtOnce = 50;

/** Works through many devices, some at a time. Asked to slow down it waits; told to stop it leaves the rest as it is. */
export async function runBulk(run: BulkRun): Promise<readonly BulkResult[]> {
  const results: BulkResult[] = [];
  for (let from = 0; from < run.uids.length && !run.isStopped(); ) {
    const some = run.uids.slice(from, from + devicesAtOnce);
    try {
      results.push(...(await run.send(some)));
      from += some.length;
      run.onProgress([...results]);
    } catch (error) {
      const waitSeconds = run.waitAfter(error);
      if (waitSeconds === undefined) throw error;
      await run.pause(waitSeconds * 1000);
    }
  }
  return results;
}
