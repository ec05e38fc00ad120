import type { TestApi } from "../../../test/support/api.ts";
import type { FetchFunction } from "../../src/attempt.ts";

/** A fetch that calls the application in process, and holds what it sees. */
export interface SeenRequest {
  method: string;
  path: string;
  headers: Headers;
}

export interface InjectFetch {
  fetch: FetchFunction;
  requests: SeenRequest[];
  /** The next requests to paths with this text get these answers instead; "lost" does the call and loses the answer. */
  fail(path: string, ...failures: (Response | "refused" | "lost")[]): void;
}

export function makeInjectFetch({ app }: Pick<TestApi, "app">): InjectFetch {
  const requests: SeenRequest[] = [];
  const failures: { path: string; failure: Response | "refused" | "lost" }[] = [];

  async function inject(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const payload = Buffer.from(await request.arrayBuffer());
    const answer = await app.inject({
      method: request.method as "GET",
      url: `${pathname}${search}`,
      headers: Object.fromEntries(request.headers),
      ...(payload.length === 0 ? {} : { payload }),
    });
    const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
    const { statusCode: status, rawPayload } = answer;
    return new Response(status === 204 ? null : new Uint8Array(rawPayload), { status, headers });
  }

  return {
    requests,
    fail: (path, ...more) => failures.push(...more.map((failure) => ({ path, failure }))),
    fetch: async (url, init) => {
      const request = new Request(url, init);
      const { pathname, search } = new URL(url);
      requests.push({ method: request.method, path: `${pathname}${search}`, headers: request.headers });
      const index = failures.findIndex(({ path }) => url.includes(path));
      const [failed] = index < 0 ? [] : failures.splice(index, 1);
      if (failed?.failure instanceof Response) return failed.failure;
      if (failed?.failure === "refused") throw new TypeError("fetch failed");
      const answer = await inject(request);
      if (failed?.failure === "lost") throw new TypeError("fetch failed");
      return answer;
    },
  };
}

/** A failure as the service writes it. */
export const refusal = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify({ code, detail: "Try again.", request_id: "r-1" }), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
