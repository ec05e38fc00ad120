import { Type } from "@sinclair/typebox";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { readJson } from "../http/body.ts";
import { compileBody, makeValidator } from "../http/validation.ts";
import type { Clock } from "../lib/clock.ts";
import { invalidCredentials, invalidToken, secondFactorRequired, throttled, validationError } from "../lib/errors.ts";
import { maxPublicBodyBytes, type RawBody } from "../lib/raw-body.ts";
import { openBrowserSession } from "../oauth/browser-sessions.ts";
import { type LoginOutcome, type LoginParts, logIn } from "../oauth/login.ts";
import { sessionTtlSeconds, signSession } from "../oauth/session-tokens.ts";
import { findUser, toUser } from "../resources/users/user-record.ts";
import { setSessionCookie } from "./session-cookie.ts";
import { auditFailedSignIn, auditSignIn } from "./sign-in-audit.ts";

export interface SignInOptions extends LoginParts {
  clock: Clock;
  sessionKey: Buffer;
  baseUrl: () => string;
}

const LoginRequest = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 254 }),
  password: Type.String({ minLength: 1, maxLength: 1024 }),
  organization: Type.Optional(Type.Unsafe<string | null>({ type: "string", nullable: true, maxLength: 100 })),
  otp: Type.Optional(Type.Unsafe<string | null>({ type: "string", nullable: true, maxLength: 40 })),
});

type SignedIn = Extract<LoginOutcome, { kind: "ok" }>;

/** The two ways to begin a session: a token for programs, a cookie for the browser. */
export function registerSignIn(app: FastifyInstance, options: SignInOptions): void {
  const { db, clock } = options;
  const check = compileBody(makeValidator(), LoginRequest);

  async function signIn(request: FastifyRequest): Promise<SignedIn> {
    const { email, password, organization, otp } = check(readJson(request.body as RawBody | undefined));
    const attempt = {
      email,
      password,
      organization: organization ?? undefined,
      otp: otp ?? undefined,
      address: request.ip,
    };
    const now = clock.now();
    const outcome = await logIn(options, attempt, now);
    const origin = { correlationId: request.id, remoteAddr: request.ip };
    switch (outcome.kind) {
      case "ok":
        await db.transaction((tx) => auditSignIn(tx, outcome, origin, now));
        return outcome;
      case "blocked":
        throw throttled(outcome.waitSeconds);
      case "choose_organization":
        throw validationError({ organization: ["This field is required for a person with several organizations."] });
      case "second_factor_required":
        throw secondFactorRequired();
      case "wrong":
        await db.transaction((tx) => auditFailedSignIn(tx, outcome.memberships, origin, now));
        throw invalidCredentials();
    }
  }

  app.post("/console/api/login/", { config: { maxBodyBytes: maxPublicBodyBytes } }, async (request) => {
    const { userId, organizationId, joinedAt, passwordChangedAt } = await signIn(request);
    const row = await findUser(db.point, organizationId, userId);
    if (!row) throw invalidToken();
    const subject = {
      sub: userId,
      org: organizationId,
      joined: joinedAt.getTime(),
      password: passwordChangedAt?.getTime() ?? 0,
    };
    return {
      access_token: signSession(options.sessionKey, subject, clock.nowMs()),
      token_type: "Bearer",
      expires_in: sessionTtlSeconds,
      user: toUser(row),
    };
  });

  app.post("/console/api/session/", { config: { maxBodyBytes: maxPublicBodyBytes } }, async (request, reply) => {
    const { userId, organizationId, joinedAt } = await signIn(request);
    const userAgent = request.headers["user-agent"] ?? "";
    const session = { userId, organizationId, joinedAt, ip: request.ip, userAgent };
    const token = await openBrowserSession(db, session, clock.now());
    return reply.code(204).header("Set-Cookie", setSessionCookie(token, options.baseUrl())).send();
  });
}
