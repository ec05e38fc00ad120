import { Type } from "@sinclair/typebox";
import type { FastifyInstance } from "fastify";
import type { Database } from "../db/database.ts";
import { readJson } from "../http/body.ts";
import { compileBody, makeValidator } from "../http/validation.ts";
import type { Clock } from "../lib/clock.ts";
import { notFound, validationError } from "../lib/errors.ts";
import { maxPublicBodyBytes, type RawBody } from "../lib/raw-body.ts";
import type { PasswordWork } from "../oauth/password-work.ts";
import { maxPasswordLength, minPasswordLength } from "../oauth/passwords.ts";
import { parseLocale } from "../resources/organizations/organization-settings.ts";
import { activate, findActivation } from "../resources/users/activation-store.ts";
import {
  type ActivateView,
  activateApiAddress,
  activatePage,
  activateScript,
  activateScriptAddress,
} from "./activate-page.ts";
import { pagePolicy, pageStyle, styleAddress } from "./page.ts";
import { preferredLocale } from "./page-locale.ts";

const ActivateRequest = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 200 }),
  password: Type.String({ minLength: minPasswordLength, maxLength: maxPasswordLength }),
});

const linkNotValid = () => notFound("The link is not valid or has already been used.");

/** Where the mail of a portal activation leads: a page to set the first password, and the call it makes. */
export function registerActivation(
  app: FastifyInstance,
  { db, clock, passwords }: { db: Database; clock: Clock; passwords: PasswordWork },
): void {
  const check = compileBody(makeValidator(), ActivateRequest);

  app.get<{ Querystring: { token?: unknown } }>("/console/activate", async (request, reply) => {
    const { token } = request.query;
    const activation = typeof token === "string" ? await findActivation(db.point, token, clock.now()) : undefined;
    const locale =
      (activation && parseLocale(activation.locale)) ?? preferredLocale(request.headers["accept-language"]);
    const [status, view]: [number, ActivateView] = !activation
      ? [404, { kind: "invalid" }]
      : activation.isExpired
        ? [410, { kind: "expired" }]
        : [200, { kind: "open", organizationName: activation.organizationName, email: activation.email }];
    return reply
      .code(status)
      .header("Content-Security-Policy", pagePolicy)
      .type("text/html; charset=utf-8")
      .send(activatePage(locale, view));
  });

  app.get(styleAddress, async (_request, reply) => reply.type("text/css; charset=utf-8").send(pageStyle));
  app.get(activateScriptAddress, async (_request, reply) =>
    reply.type("text/javascript; charset=utf-8").send(activateScript),
  );

  app.post(activateApiAddress, { config: { maxBodyBytes: maxPublicBodyBytes } }, async (request) => {
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
