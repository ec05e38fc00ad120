import { Type } from "@sinclair/typebox";
import type { FastifyInstance } from "fastify";
import type { Database } from "../db/database.ts";
import { readJson } from "../http/body.ts";
import { lazyBody, makeValidator } from "../http/validation.ts";
import type { Clock } from "../lib/clock.ts";
import { notFound, validationError } from "../lib/errors.ts";
import { maxPublicBodyBytes, type RawBody } from "../lib/raw-body.ts";
import type { PasswordWork } from "../oauth/password-work.ts";
import { maxPasswordLength, minPasswordLength } from "../oauth/passwords.ts";
import { activate, findActivation } from "../resources/users/activation-store.ts";
import type { ConsolePage } from "./console-page.ts";

const ActivateRequest = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 200 }),
  password: Type.String({ minLength: minPasswordLength, maxLength: maxPasswordLength }),
});

const linkNotValid = () => notFound("The link is not valid or has already been used.");

/** Where the mail of a portal activation leads: a page to set the first password, and the call it makes. */
export function registerActivation(
  app: FastifyInstance,
  { db, clock, passwords, page }: { db: Database; clock: Clock; passwords: PasswordWork; page: ConsolePage },
): void {
  const check = lazyBody(makeValidator(), ActivateRequest);

  app.get<{ Querystring: { token?: unknown } }>("/console/activate", async (request, reply) => {
    const { token } = request.query;
    const activation = typeof token === "string" ? await findActivation(db.point, token, clock.now()) : undefined;
    if (!activation) return page.sendLink(request, reply, { kind: "invalid" });
    const { isExpired, organizationName: organization, email, locale } = activation;
    return page.sendLink(
      request,
      reply,
      isExpired ? { kind: "expired" } : { kind: "open", organization, email },
      locale,
    );
  });

  app.post("/console/api/activate/", { config: { maxBodyBytes: maxPublicBodyBytes } }, async (request) => {
    const { token, password } = check(readJson(request.body as RawBody | undefined));
    const now = clock.now();
    const activation = await findActivation(db.point, token, now);
    if (!activation) throw linkNotValid();
    if (activation.isExpired) throw validationError({ token: ["The link has expired."] });
    // Only after the link was found good: a hash is expensive, and this call needs no session.
    const passwordHash = await passwords.hash(password);
    const origin = { correlationId: request.id, remoteAddr: request.ip };
    const isActivated = await db.transaction((tx) => activate(tx, activation, passwordHash, origin, now));
    if (!isActivated) throw linkNotValid();
    return { detail: "The password has been set." };
  });
}
