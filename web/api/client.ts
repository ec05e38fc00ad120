import type { Page } from "./types.ts";

/** What the API said no with. `fields` are the messages by field of a form. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly fields: Readonly<Record<string, string[]>>;
  readonly retryAfterSeconds: number | undefined;
  /** The whole answer, for calls whose refusals say more. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Record<string, unknown>, retryAfter: string | null) {
    super(typeof body.detail === "string" ? body.detail : `HTTP ${status}`);
    this.status = status;
    this.code = typeof body.code === "string" ? body.code : "";
    this.fields = (body.errors ?? {}) as Record<string, string[]>;
    this.body = body;
    this.retryAfterSeconds = retryAfter === null ? undefined : Number(retryAfter);
  }
}

/** The server cannot be reached at all. */
export class Unreachable extends Error {}

let onSessionEnd: () => void = () => undefined;
/** Called once the server says that the session is over. */
export const setSessionEndHandler = (handler: () => void): void => {
  onSessionEnd = handler;
};

/** Calls of people who have no session yet: a refusal there ends none. */
const withoutSession = /^\/console\/api\/(session|activate|accept|password\/(reset|forgot))\//;

export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const isRaw = body instanceof FormData || body instanceof Blob || typeof body === "string";
  const answer = await fetch(path, {
    method,
    credentials: "same-origin",
    headers: {
      Accept: "application/json",
      "X-Vigil-Console": "1",
      ...(body === undefined || isRaw ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: isRaw ? (body as BodyInit) : JSON.stringify(body) }),
  }).catch((cause: unknown) => {
    throw new Unreachable("The service cannot be reached.", { cause });
  });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
  const value: unknown = isJson && text !== "" ? JSON.parse(text) : undefined;
  if (answer.ok) return value as T;
  if (answer.status === 401 && !withoutSession.test(path)) onSessionEnd();
  throw new Refusal(answer.status, (value ?? {}) as Record<string, unknown>, answer.headers.get("retry-after"));
}

export const get = <T>(path: string): Promise<T> => call<T>("GET", path);
export const post = <T>(path: string, body: unknown = {}): Promise<T> => call<T>("POST", path, body);
export const patch = <T>(path: string, body: unknown): Promise<T> => call<T>("PATCH", path, body);
export const put = <T>(path: string, body: unknown): Promise<T> => call<T>("PUT", path, body);
export const remove = (path: string): Promise<void> => call<void>("DELETE", path);

/** All rows of a list, page by page; `onPage` shows what has come so far. */
export async function getAll<T>(path: string, onPage: (rows: T[]) => void = () => undefined): Promise<T[]> {
  const rows: T[] = [];
  for (let next: string | null = path; next !== null; ) {
    const page: Page<T> = await get<Page<T>>(next);
    rows.push(...page.results);
    onPage(page.results);
    next = page.next === null ? null : new URL(page.next).pathname + new URL(page.next).search;
  }
  return rows;
}
