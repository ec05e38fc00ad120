import { METHODS } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import type { Database } from "../db/database.ts";
import { isUnavailable } from "../db/failures.ts";
import type { Clock } from "../lib/clock.ts";
import { maxPublicBodyBytes, type RawBody } from "../lib/raw-body.ts";
import { hashSecret } from "./client-secrets.ts";
import { type Client, findClient } from "./client-store.ts";
import { blockedSeconds, recordFailure } from "./failed-attempts.ts";
import { OAuthError, readClientCredentials, readParameters } from "./oauth-request.ts";
import { allScopes, isScope, type Scope } from "./scopes.ts";
import type { TokenCache } from "./token-cache.ts";
import { findTokenIdentity, issueToken, revokeToken } from "./token-store.ts";

const clientLimit = { kind: "oauth_client", failures: 10, windowSeconds: 60 } as const;

export interface OAuthOptions {
  db: Database;
  clock: Clock;
  tokens: Pick<TokenCache, "forget">;
  tokenTtlSeconds: number;
  baseUrl: () => string;
}

/** Token, revocation, introspection and metadata endpoints. Errors here have the shape of RFC 6749, not the common one. */
export function registerOAuthRoutes(app: FastifyInstance, options: OAuthOptions): void {
  const { db, clock } = options;

  async function authenticate(request: FastifyRequest, parameters: ReadonlyMap<string, string>): Promise<Client> {
    const { clientId, clientSecret, usedBasic } = readClientCredentials(request.headers.authorization, parameters);
    const now = clock.now();
    const subject = hashSecret(`${clientId ?? ""}\n${request.ip}`).toString("hex");
    const blocked = await blockedSeconds(db.point, clientLimit, subject, now);
    if (blocked > 0) throw OAuthError.tooManyFailures(blocked);
    const client =
      clientId !== undefined && clientSecret !== undefined
        ? await findClient(db.point, clientId, clientSecret, now)
        : undefined;
    if (client) return client;
    const wait = await recordFailure(db, clientLimit, subject, now);
    throw wait > 0 ? OAuthError.tooManyFailures(wait) : OAuthError.invalidClient(usedBasic);
  }

  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);

  /** Registers POST, and 405 for every other method that HTTP knows. */
  function endpoint(path: string, handle: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): void {
    app.route({
      method: app.supportedMethods as HTTPMethods[],
      url: path,
      config: { maxBodyBytes: maxPublicBodyBytes },
      handler: async (request, reply) => {
        reply.header("Cache-Control", "no-store").header("Pragma", "no-cache");
        try {
          if (request.method !== "POST") throw OAuthError.methodNotAllowed();
          return await handle(request, reply);
        } catch (error) {
          const known = asOAuthError(error);
          if (known.status >= 500) request.log.error({ err: error, request_id: request.id }, "oauth call failed");
          return reply
            .code(known.status)
            .headers(known.headers)
            .send({ error: known.error, error_description: known.message });
        }
      },
    });
  }

  endpoint("/o/token/", async (request, reply) => {
    const parameters = readParameters(request.body as RawBody | undefined);
    const client = await authenticate(request, parameters);
    const grantType = parameters.get("grant_type");
    if (!grantType) throw OAuthError.invalidRequest("grant_type is required.");
    if (grantType !== "client_credentials") throw OAuthError.unsupportedGrantType();
    const scopes = requestedScopes(parameters.get("scope"), client);
    const { token } = await issueToken(db, client, scopes, clock.now(), options.tokenTtlSeconds);
    return reply.send({
      access_token: token,
      token_type: "Bearer",
      expires_in: options.tokenTtlSeconds,
      scope: scopes.join(" "),
    });
  });

  endpoint("/o/revoke_token/", async (request, reply) => {
    const parameters = readParameters(request.body as RawBody | undefined);
    const client = await authenticate(request, parameters);
    const token = parameters.get("token");
    if (!token) throw OAuthError.invalidRequest("token is required.");
    await db.transaction((tx) => revokeToken(tx, client.integrationId, token));
    options.tokens.forget(token);
    return reply.code(200).header("Content-Length", "0").send();
  });

  endpoint("/o/introspect/", async (request, reply) => {
    const parameters = readParameters(request.body as RawBody | undefined);
    const client = await authenticate(request, parameters);
    const token = parameters.get("token");
    if (!token) throw OAuthError.invalidRequest("token is required.");
    const identity = await findTokenIdentity(db.point, hashSecret(token));
    if (!identity || identity.integrationId !== client.integrationId || identity.expiresAtMs <= clock.nowMs()) {
      return reply.send({ active: false });
    }
    return reply.send({
      active: true,
      scope: [...identity.scopes].join(" "),
      exp: Math.floor(identity.expiresAtMs / 1000),
      client_id: identity.clientId,
      token_type: "Bearer",
    });
  });

  app.get("/.well-known/oauth-authorization-server", async () => {
    const base = options.baseUrl();
    return {
      issuer: base,
      token_endpoint: `${base}/o/token/`,
      revocation_endpoint: `${base}/o/revoke_token/`,
      introspection_endpoint: `${base}/o/introspect/`,
      grant_types_supported: ["client_credentials"],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
      revocation_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
      introspection_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
      scopes_supported: allScopes,
    };
  });
}

function requestedScopes(text: string | undefined, client: Client): Scope[] {
  const named = [...new Set((text ?? "").split(" ").filter((part) => part !== ""))];
  if (named.length === 0) return [...client.scopes];
  return named.map((scope) => {
    if (!isScope(scope) || !client.scopes.includes(scope)) throw OAuthError.invalidScope();
    return scope;
  });
}

function asOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  return isUnavailable(error) ? OAuthError.unavailable() : OAuthError.serverError();
}
