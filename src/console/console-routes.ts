import { Type } from "@sinclair/typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Database } from "../db/database.ts";
import type { Authenticator } from "../http/authenticate.ts";
import { readJson } from "../http/body.ts";
import type { PersonPrincipal } from "../http/principal.ts";
import type { RateLimiter } from "../http/rate-limit.ts";
import { personPolicies, rateHeaders } from "../http/rate-limit-window.ts";
import { compileBody, makeValidator } from "../http/validation.ts";
import type { Clock } from "../lib/clock.ts";
import { invalidCredentials, invalidToken, throttled, validationError } from "../lib/errors.ts";
import { maxPublicBodyBytes, type RawBody } from "../lib/raw-body.ts";
import { logIn } from "../oauth/login.ts";
import { sessionTtlSeconds, signSession } from "../oauth/session-tokens.ts";
import { findUser, toUser, type User } from "../resources/users/user-record.ts";
import { registerAcceptance } from "./accept-routes.ts";
import { registerActivation } from "./activate-routes.ts";

export interface ConsoleOptions {
  db: Database;
  clock: Clock;
  authenticator: Authenticator;
  rateLimiter: RateLimiter;
  sessionKey: Buffer;
  /** See logIn. */
  decoyHash: string;
}

const LoginRequest = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 254 }),
  password: Type.String({ minLength: 1, maxLength: 1024 }),
  organization: Type.Optional(Type.Unsafe<string | null>({ type: "string", nullable: true, maxLength: 100 })),
});

/** What people need before and beside the partner surface: a session, and who they are. Not described by OpenAPI. */
export function registerConsoleApi(app: FastifyInstance, options: ConsoleOptions): void {
  const { db, clock } = options;
  const checkLogin = compileBody(makeValidator(), LoginRequest);
  registerActivation(app, { db, clock });
  registerAcceptance(app, { db, clock });

  async function userRecord(organizationId: string, userId: string): Promise<User> {
    const row = await findUser(db.point, organizationId, userId);
    if (!row) throw invalidToken();
    return toUser(row);
  }

  /** A session and its rate limit; the first steps of every call of the console. */
  async function session(request: FastifyRequest, reply: FastifyReply): Promise<PersonPrincipal> {
    const principal = await options.authenticator.authenticatePerson(request.headers.authorization);
    const decision = await options.rateLimiter.take(principal.id, personPolicies);
    reply.headers(rateHeaders(decision));
    if (!decision.allowed) throw throttled(decision.waitSeconds, decision.violated);
    return principal;
  }

  app.post("/console/api/login/", { config: { maxBodyBytes: maxPublicBodyBytes } }, async (request) => {
    const { email, password, organization } = checkLogin(readJson(request.body as RawBody | undefined));
    const attempt = { email, password, organization: organization ?? undefined, address: request.ip };
    const outcome = await logIn(db, attempt, clock.now(), options.decoyHash);
    switch (outcome.kind) {
      case "ok": {
        const { userId, organizationId, joinedAt } = outcome;
        const subject = { sub: userId, org: organizationId, joined: joinedAt.getTime() };
        return {
          access_token: signSession(options.sessionKey, subject, clock.nowMs()),
          token_type: "Bearer",
          expires_in: sessionTtlSeconds,
          user: await userRecord(organizationId, userId),
        };
      }
      case "blocked":
        throw throttled(outcome.waitSeconds);
      case "choose_organization":
        throw validationError({ organization: ["This field is required for a person with several organizations."] });
      case "wrong":
        throw invalidCredentials();
    }
  });

  app.get("/console/api/me/", async (request, reply) => {
    const { organization, person, id } = await session(request, reply);
    return {
      user: await userRecord(organization.id, id),
      organization: { name: organization.name, slug: organization.slug, timezone: organization.timezone },
      role: person.role,
    };
  });
}
