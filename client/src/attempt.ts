import { ConnectionError, TimeoutError, toApiError, VigilError } from "./errors.ts";

export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

export interface SendOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** One request. Rejects with a VigilError for everything but 2xx, and with the reason of the signal. */
export type Attempt = (url: string, init: RequestInit, options: SendOptions) => Promise<Response>;

/**
 * The time-out runs until the headers of the answer; for an answer that is read whole, until its end (`isStreamed` false).
 * A body that is handed out as a stream is the caller's: its signal still ends it.
 */
export function makeAttempt(fetch: FetchFunction): (isStreamed: boolean) => Attempt {
  return (isStreamed) =>
    async (url, init, { timeoutMs, signal }) => {
      signal?.throwIfAborted();
      const controller = new AbortController();
      const onAbort = (): void => controller.abort(signal?.reason);
      signal?.addEventListener("abort", onAbort, { once: true });
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        controller.abort();
      }, timeoutMs);
      let keepsSignal = false;
      try {
        const answer = await fetch(url, { ...init, redirect: "manual", signal: controller.signal });
        if (!answer.ok) throw toApiError(answer.status, answer.headers, await answer.text(), Date.now());
        keepsSignal = isStreamed;
        return isStreamed ? answer : await readWhole(answer);
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        if (isLate) throw new TimeoutError(`No answer within ${timeoutMs} ms.`, { cause: error });
        if (error instanceof VigilError) throw error;
        throw new ConnectionError("The connection to the service failed.", { cause: error });
      } finally {
        clearTimeout(timer);
        if (!keepsSignal) signal?.removeEventListener("abort", onAbort);
      }
    };
}

/** A connection that breaks within the body counts as one that brought no answer. */
async function readWhole(answer: Response): Promise<Response> {
  const { status, headers } = answer;
  const bytes = await answer.arrayBuffer();
  return new Response(status === 204 ? null : bytes, { status, headers });
}
