import { randomUUID } from "node:crypto";
import { type FetchFunction, makeAttempt, type SendOptions } from "./attempt.ts";
import { ApiError, hasCode } from "./errors.ts";
import { type Operations, operations } from "./operations.ts";
import { isAmbiguous, pause, type RetryPolicy, retryDelayMs } from "./retries.ts";
import { type Credentials, makeTokenSource } from "./tokens.ts";

/** What every call takes. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** For one attempt. */
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
  /** For calls that create something. One is made if omitted; your own also survives a restart of your program. */
  idempotencyKey?: string | undefined;
}

export type OperationId = keyof Operations;
type Given<Value> = Value extends Record<string, never> ? { [name: string]: never } : Value;

export interface CallInput<Id extends OperationId> {
  path?: Given<Operations[Id]["path"]> | undefined;
  query?: Given<Operations[Id]["query"]> | undefined;
  body?: Operations[Id]["body"] | undefined;
}

/** A body that is not JSON. */
export interface RawBody {
  contentType: string;
  /** False for a stream, which can be read only once. */
  canMakeAgain: boolean;
  make(): ReadableStream<Uint8Array>;
}

export interface Transport {
  call<Id extends OperationId>(id: Id, input?: CallInput<Id>, options?: CallOptions): Promise<Operations[Id]["answer"]>;
  /** The answer as it comes, for bodies that are streams. */
  open<Id extends OperationId>(
    id: Id,
    input: Pick<CallInput<Id>, "path" | "query">,
    options?: CallOptions & { headers?: Record<string, string>; rawBody?: RawBody },
  ): Promise<Response>;
}

export interface TransportOptions {
  baseUrl: string;
  credentials: Credentials;
  fetch: FetchFunction;
  timeoutMs: number;
  retry: RetryPolicy;
  userAgent: string;
}

type Query = Record<string, string | number | boolean | readonly (string | number)[] | undefined>;

function urlFor(baseUrl: string, template: string, path: Record<string, string | number>, query: Query): string {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    if (value === undefined || value === "") throw new TypeError(`${name} is required.`);
    return encodeURIComponent(String(value));
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const text = search.toString();
  return `${baseUrl}${filled}${text === "" ? "" : `?${text}`}`;
}

export function makeTransport(options: TransportOptions): Transport {
  const baseUrl = options.baseUrl.replace(/\/+$/, "");
  const attemptFor = makeAttempt(options.fetch);
  const tokens = makeTokenSource(options.credentials, baseUrl, attemptFor(false));

  interface Request {
    url: string;
    method: string;
    headers: Record<string, string>;
    body: () => string | ReadableStream<Uint8Array> | undefined;
    /** Doing it twice does no harm. */
    isRepeatable: boolean;
    canSendAgain: boolean;
    isStreamed: boolean;
  }

  async function sendOnce(request: Request, send: SendOptions): Promise<Response> {
    const token = await tokens.get(send);
    const body = request.body();
    const init: RequestInit & { duplex?: "half" } = {
      method: request.method,
      headers: { ...request.headers, authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body }),
      ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
    };
    try {
      return await attemptFor(request.isStreamed)(request.url, init, send);
    } catch (error) {
      if (hasCode(error, "invalid_token")) tokens.drop(token);
      throw error;
    }
  }

  async function send(request: Request, { signal, timeoutMs = options.timeoutMs, maxRetries }: CallOptions) {
    const policy = { ...options.retry, ...(maxRetries === undefined ? {} : { maxRetries }) };
    let isPerhapsDone = false;
    let hasNewToken = false;
    for (let attempt = 1; ; attempt++) {
      try {
        return await sendOnce(request, { signal, timeoutMs });
      } catch (error) {
        // Refused before anything was done: a token that has ended or was revoked.
        if (hasCode(error, "invalid_token") && !hasNewToken && request.canSendAgain) {
          hasNewToken = true;
          attempt--;
          continue;
        }
        // The answer to the first DELETE was lost, and it had worked.
        if (isPerhapsDone && request.method === "DELETE" && error instanceof ApiError && error.status === 404) {
          return new Response(null, { status: 204 });
        }
        const delayMs = retryDelayMs(error, attempt, request.isRepeatable, policy, Math.random());
        if (delayMs === undefined) throw error;
        isPerhapsDone ||= isAmbiguous(error);
        await pause(delayMs, signal);
      }
    }
  }

  function requestFor(id: OperationId, input: CallInput<OperationId>, call: CallOptions, isStreamed: boolean): Request {
    const { method, path, takesIdempotencyKey } = operations[id];
    const headers: Record<string, string> = { "user-agent": options.userAgent };
    if (takesIdempotencyKey) headers["idempotency-key"] = call.idempotencyKey ?? randomUUID();
    const text = input.body === undefined ? undefined : JSON.stringify(input.body);
    if (text !== undefined) headers["content-type"] = "application/json";
    return {
      url: urlFor(baseUrl, path, (input.path ?? {}) as Record<string, string>, (input.query ?? {}) as Query),
      method,
      headers,
      body: () => text,
      isRepeatable: method !== "POST" || takesIdempotencyKey,
      canSendAgain: true,
      isStreamed,
    };
  }

  return {
    call: async (id, input = {}, call = {}) => {
      const request = requestFor(id, input as CallInput<OperationId>, call, false);
      const answer = await send(request, call);
      const text = await answer.text();
      return text === "" ? undefined : JSON.parse(text);
    },
    open: (id, input, call = {}) => {
      const request = requestFor(id, input as CallInput<OperationId>, call, call.rawBody === undefined);
      Object.assign(request.headers, call.headers);
      const { rawBody } = call;
      if (!rawBody) return send(request, call);
      request.headers["content-type"] = rawBody.contentType;
      const { make, canMakeAgain } = rawBody;
      return send(
        { ...request, body: make, canSendAgain: canMakeAgain },
        canMakeAgain ? call : { ...call, maxRetries: 0 },
      );
    },
  };
}
