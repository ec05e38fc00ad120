import type { TestAnswer, TestApi } from "./api.ts";
import { password } from "./world.ts";

export interface BrowserCalls {
  cookie: string;
  get(path: string): Promise<TestAnswer>;
  /** With the header that the console sends. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>;
}

export const callsWith = (api: TestApi, cookie: string): BrowserCalls => ({
  cookie,
  get: (path) => api.call("GET", path, { headers: { cookie } }),
  send: (method, path, body, headers = {}) =>
    api.call(method, path, { body, headers: { cookie, "x-vigil-console": "1", ...headers } }),
});

/** Signs in as a browser does, and keeps the cookie. */
export async function signIn(api: TestApi, email: string, more: Record<string, unknown> = {}): Promise<BrowserCalls> {
  const answer = await api.call("POST", "/console/api/session/", { body: { email, password, ...more } });
  if (answer.status !== 204) throw new Error(`no session: ${answer.text}`);
  return callsWith(api, String(answer.headers["set-cookie"]).split(";")[0] as string);
}
