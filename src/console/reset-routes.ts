import { Type } from "@sinclair/typebox";
import type { FastifyInstance } from "fastify";
import type { Database } from "../db/database.ts";
import { readJson } from "../http/body.ts";
import { lazyBody, makeValidator } from "../http/validation.ts";
import type { Clock } from "../lib/clock.ts";
import { validationError } from "../lib/errors.ts";
import { networkOf } from "../lib/network-of.ts";
import { maxPublicBodyBytes, type RawBody } from "../lib/raw-body.ts";
import { enqueueMail } from "../mail/mail-outbox.ts";
import { hashSecret } from "../oauth/client-secrets.ts";
import { recordFailure } from "../oauth/failed-attempts.ts";
import { findReset, findResetTarget, openReset, useReset } from "../oauth/password-store.ts";
import type { PasswordWork } from "../oauth/password-work.ts";
import { maxPasswordLength, minPasswordLength } from "../oauth/passwords.ts";
import type { ConsolePage } from "./console-page.ts";
import { auditPassword } from "./sign-in-audit.ts";

export interface PasswordResetOptions {
  db: Database;
  clock: Clock;
  passwords: PasswordWork;
  baseUrl: () => string;
  page: ConsolePage;
}

const ForgotRequest = Type.Object({ email: Type.String({ minLength: 1, maxLength: 254 }) });
const ResetRequest = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 200 }),
  password: Type.String({ minLength: minPasswordLength, maxLength: maxPasswordLength }),
});

const perEmail = { kind: "forgot_email", failures: 1, windowSeconds: 60 } as const;
const perNetwork = { kind: "forgot_network", failures: 10, windowSeconds: 3600 } as const;

const linkNotValid = () => validationError({ token: ["The link has already been used or has expired."] });

/** For people who forgot their password: a mail with a link, and the page behind it. Nobody learns here who has an account. */
export function registerPasswordReset(app: FastifyInstance, options: PasswordResetOptions): void {
  const { db, clock, passwords, page } = options;
  const checkForgot = lazyBody(makeValidator(), ForgotRequest);
  const checkReset = lazyBody(makeValidator(), ResetRequest);

  async function mailLink(email: string, address: string, now: Date): Promise<void> {
    const waits = [
      await recordFailure(db, perNetwork, hashSecret(networkOf(address)).toString("hex"), now),
      await recordFailure(db, perEmail, hashSecret(email).toString("hex"), now),
    ];
    if (waits.some((wait) => wait > 0)) return;
    const target = await findResetTarget(db, email);
    if (!target) return;
    await db.transaction(async (tx) => {
      const { token, expiresAt } = await openReset(tx, target.userId, now);
      await enqueueMail(tx, {
        organizationId: target.organizationId,
        to: target.email,
        locale: target.locale,
        kind: "password_reset",
        params: {
          organization_name: target.organizationName,
          link: `${options.baseUrl()}/console/reset?token=${token}`,
          expires_at: expiresAt.toISOString(),
        },
        now,
      });
    });
  }

  app.post(
    "/console/api/password/forgot/",
    { config: { maxBodyBytes: maxPublicBodyBytes } },
    async (request, reply) => {
      const { email } = checkForgot(readJson(request.body as RawBody | undefined));
      await mailLink(email.trim().toLowerCase(), request.ip, clock.now());
      return reply.code(202).send({ detail: "If there is an account with this e-mail, a link is on its way." });
    },
  );

  app.get<{ Querystring: { token?: unknown } }>("/console/reset", async (request, reply) => {
    const { token } = request.query;
    const target = typeof token === "string" ? await findReset(db.point, token, clock.now()) : undefined;
    // Used, expired or unknown: nobody learns which.
    if (!target) return page.sendLink(request, reply, { kind: "expired" });
    const { organizationName: organization, email, locale } = target;
    return page.sendLink(request, reply, { kind: "open", organization, email }, locale);
  });

  app.post("/console/api/password/reset/", { config: { maxBodyBytes: maxPublicBodyBytes } }, async (request, reply) => {
    const { token, password } = checkReset(readJson(request.body as RawBody | undefined));
    const now = clock.now();
    const target = await findReset(db.point, token, now);
    if (!target) throw linkNotValid();
    // Only after the link was found good: a hash is expensive, and this call needs no session.
    const hash = await passwords.hash(password);
    const origin = { correlationId: request.id, remoteAddr: request.ip };
    const isSet = await db.transaction(async (tx) => {
      if (!(await useReset(tx, token, hash, now))) return false;
      await auditPassword(tx, target, origin, now);
      return true;
    });
    if (!isSet) throw linkNotValid();
    return reply.code(204).send();
  });
}
