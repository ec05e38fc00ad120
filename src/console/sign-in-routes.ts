import { Type } from "@sinclair/typebox";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { readJson } from "../http/body.ts";
import { lazyBody, makeValidator } from "../http/validation.ts";
import type { Clock } from "../lib/clock.ts";
import { invalidCredentials, invalidToken, secondFactorRequired, throttled, validationError } from "../lib/errors.ts";
import { maxPublicBodyBytes, type RawBody } from "../lib/raw-body.ts";
import { openBrowserSession } from "../oauth/browser-sessions.ts";
import { type LoginOutcome, type LoginParts, logIn } from "../oauth/login.ts";
import type { OperatorIdentity } from "../oauth/operator-store.ts";
import { type SessionSubject, sessionTtlSeconds, signSession } from "../oauth/session-tokens.ts";
import { findUser, toUser } from "../resources/users/user-record.ts";
import { recordOperatorAction } from "./operator/operator-log.ts";
import { operatorUser } from "./operator-account.ts";
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

type SignedIn = Extract<LoginOutcome, { kind: "ok" | "operator" }>;

/** The two ways to begin a session: a token for programs, a cookie for the browser. */
export function registerSignIn(app: FastifyInstance, options: SignInOptions): void {
  const { db, clock } = options;
  const check = lazyBody(makeValidator(), LoginRequest);

  const logOperator = (
    { userId: id, email }: OperatorIdentity,
    action: "sign_in" | "sign_in_failed",
    origin: { correlationId: string; remoteAddr: string },
    now: Date,
  ): Promise<void> => recordOperatorAction(db, { operator: { id, email }, action }, origin, now);

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
      case "operator":
        await logOperator(outcome.operator, "sign_in", origin, now);
        return outcome;
      case "blocked":
        throw throttled(outcome.waitSeconds);
      case "choose_organization":
        throw validationError({ organization: ["This field is required for a person with several organizations."] });
      case "second_factor_required":
        throw secondFactorRequired();
      case "wrong":
        await db.transaction((tx) => auditFailedSignIn(tx, outcome.memberships, origin, now));
        if (outcome.operator) await logOperator(outcome.operator, "sign_in_failed", origin, now);
        throw invalidCredentials();
    }
  }

  app.post("/console/api/login/", { config: { maxBodyBytes: maxPublicBodyBytes } }, async (request) => {
    const signedIn = await signIn(request);
    const answer = (subject: SessionSubject, user: object) => ({
      access_token: signSession(options.sessionKey, subject, clock.nowMs()),
      token_type: "Bearer",
      expires_in: sessionTtlSeconds,
      user,
    });
    if (signedIn.kind === "operator") {
      const { userId: sub, since, passwordChangedAt } = signedIn.operator;
      const subject = { sub, joined: since.getTime(), password: passwordChangedAt?.getTime() ?? 0 };
      return answer(subject, operatorUser(signedIn.operator));
    }
    const { userId: sub, organizationId: org, joinedAt, passwordChangedAt } = signedIn;
    const row = await findUser(db.point, org, sub);
    if (!row) throw invalidToken();
    const subject = { sub, org, joined: joinedAt.getTime(), password: passwordChangedAt?.getTime() ?? 0 };
    return answer(subject, toUser(row));
  });

  app.post("/console/api/session/", { config: { maxBodyBytes: maxPublicBodyBytes } }, async (request, reply) => {
    const signedIn = await signIn(request);
    const subject =
      signedIn.kind === "operator"
        ? { userId: signedIn.operator.userId, organizationId: null, joinedAt: signedIn.operator.since }
        : { userId: signedIn.userId, organizationId: signedIn.organizationId, joinedAt: signedIn.joinedAt };
    const session = { ...subject, ip: request.ip, userAgent: request.headers["user-agent"] ?? "" };
    const token = await openBrowserSession(db, session, clock.now());
    return reply.code(204).header("Set-Cookie", setSessionCookie(token, options.baseUrl())).send();
  });
}
