import type { Attempt, SendOptions } from "./attempt.ts";
import { untilAborted } from "./retries.ts";

export interface Credentials {
  clientId: string;
  clientSecret: string;
  /** Only these scopes; all granted ones if omitted. */
  scopes?: readonly string[] | undefined;
}

export interface TokenSource {
  get(options: SendOptions): Promise<string>;
  /** The service has refused this token: the next call gets another one. */
  drop(token: string): void;
}

const maxMarginMs = 60_000;
const encode = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

/** Fetches a token when one is needed and renews it shortly before it ends. Calls that wait for a token share one request. */
export function makeTokenSource(credentials: Credentials, baseUrl: string, attempt: Attempt): TokenSource {
  let current: { token: string; renewAtMs: number } | undefined;
  let fetching: Promise<string> | undefined;

  async function fetchToken(timeoutMs: number): Promise<string> {
    const form = new URLSearchParams({ grant_type: "client_credentials" });
    if (credentials.scopes) form.set("scope", credentials.scopes.join(" "));
    const askedMs = Date.now();
    const answer = await attempt(
      `${baseUrl}/o/token/`,
      {
        method: "POST",
        headers: {
          authorization: `Basic ${encode(`${credentials.clientId}:${credentials.clientSecret}`)}`,
          "content-type": "application/x-www-form-urlencoded",
        },
        body: form.toString(),
      },
      { timeoutMs },
    );
    const { access_token, expires_in } = JSON.parse(await answer.text()) as {
      access_token: string;
      expires_in: number;
    };
    const lifetimeMs = expires_in * 1000;
    current = { token: access_token, renewAtMs: askedMs + lifetimeMs - Math.min(maxMarginMs, lifetimeMs / 5) };
    return access_token;
  }

  return {
    get: async ({ timeoutMs, signal }) => {
      signal?.throwIfAborted();
      if (current && Date.now() < current.renewAtMs) return current.token;
      // Without the signal of the caller: others wait for the same answer.
      fetching ??= fetchToken(timeoutMs).finally(() => {
        fetching = undefined;
      });
      return untilAborted(fetching, signal);
    },
    drop: (token) => {
      if (current?.token === token) current = undefined;
    },
  };
}
