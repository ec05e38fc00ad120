import { CommandError } from "./command.ts";

/** The partner of the demo, who uses the service's own API. */
export interface DemoClient {
  http: string;
  clientId: string;
  clientSecret: string;
}

export type Json = Record<string, unknown>;
export type Call = <T = Json>(method: "GET" | "POST", path: string, body?: Json) => Promise<T>;

export async function signIn({ http, clientId, clientSecret }: DemoClient): Promise<Call> {
  const answer = await fetch(`${http}/o/token/`, {
    method: "POST",
    body: new URLSearchParams({ grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret }),
  });
  if (!answer.ok) throw new CommandError(`the demo got no token (${answer.status}): see the log above`);
  const { access_token } = (await answer.json()) as { access_token: string };
  return async <T>(method: string, path: string, body?: Json): Promise<T> => {
    const response = await fetch(`${http}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${access_token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const document = (await response.json()) as Json;
    if (response.ok) return document as T;
    throw new CommandError(
      `the demo could not be set up: ${method} ${path} answered ${response.status} ${document.code} (${JSON.stringify(document.errors ?? document.detail)})`,
    );
  };
}
