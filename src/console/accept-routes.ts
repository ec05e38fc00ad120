import { Type } from "@sinclair/typebox";
import type { FastifyInstance } from "fastify";
import type { Database } from "../db/database.ts";
import { readJson } from "../http/body.ts";
import { lazyBody, makeValidator } from "../http/validation.ts";
import type { Clock } from "../lib/clock.ts";
import {
  invalidCredentials,
  invitationExpired,
  invitationNotPending,
  notFound,
  throttled,
  validationError,
} from "../lib/errors.ts";
import { maxPublicBodyBytes, type RawBody } from "../lib/raw-body.ts";
import { forgiveFailure, recordFailure } from "../oauth/failed-attempts.ts";
import type { PasswordWork } from "../oauth/password-work.ts";
import { isAcceptablePassword, maxPasswordLength, minPasswordLength } from "../oauth/passwords.ts";
import { acceptAsPerson, findPersonTarget, type PersonTarget } from "../resources/invitations/accepting-person.ts";
import { invitationStatuses } from "../resources/invitations/invitation-record.ts";
import type { ConsolePage } from "./console-page.ts";
import type { LinkView } from "./link-view.ts";

const AcceptRequest = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 200 }),
  first_name: Type.Optional(Type.String({ maxLength: 100 })),
  last_name: Type.Optional(Type.String({ maxLength: 100 })),
  password: Type.String({ minLength: 1, maxLength: maxPasswordLength }),
});

/** A link lets its holder try the password of one person; not often. */
const wrongPasswords = { kind: "accept", failures: 10, windowSeconds: 900 } as const;

const { pending, expired } = invitationStatuses;

/** Where the mail of an invitation leads: a page to accept it, and the call it makes. Nobody has a session here. */
export function registerAcceptance(
  app: FastifyInstance,
  { db, clock, passwords, page }: { db: Database; clock: Clock; passwords: PasswordWork; page: ConsolePage },
): void {
  const check = lazyBody(makeValidator(), AcceptRequest);

  app.get<{ Querystring: { token?: unknown } }>("/console/accept", async (request, reply) => {
    const { token } = request.query;
    const target = typeof token === "string" ? await findPersonTarget(db.point, token, clock.now()) : undefined;
    return page.sendLink(request, reply, viewOf(target), target?.locale);
  });

  /** The hash of a first password, or null for a person who has given the one they have. */
  async function checkPassword(target: PersonTarget, password: string, now: Date): Promise<string | null> {
    if (target.password_hash === null) {
      if (isAcceptablePassword(password)) return passwords.hash(password);
      throw validationError({ password: [`Ensure this field has at least ${minPasswordLength} characters.`] });
    }
    // Counted before it is looked at, so that parallel tries count too.
    const wait = await recordFailure(db, wrongPasswords, target.id, now);
    if (wait > 0) throw throttled(wait);
    if (!(await passwords.verify(target.password_hash, password))) throw invalidCredentials();
    await forgiveFailure(db, wrongPasswords, target.id);
    return null;
  }

  app.post("/console/api/accept/", { config: { maxBodyBytes: maxPublicBodyBytes } }, async (request) => {
    const body = check(readJson(request.body as RawBody | undefined));
    const now = clock.now();
    const target = await findPersonTarget(db.point, body.token, now);
    if (!target) throw notFound("The link is not valid.");
    if (target.status === expired) throw invitationExpired();
    if (target.status !== pending) throw invitationNotPending(target.status);
    const newPasswordHash = await checkPassword(target, body.password, now);
    const input = { firstName: body.first_name ?? "", lastName: body.last_name ?? "", newPasswordHash };
    const origin = { correlationId: request.id, remoteAddr: request.ip };
    await db.transaction((tx) => acceptAsPerson(tx, target, input, origin, now));
    return { detail: "The invitation has been accepted." };
  });
}

function viewOf(target: PersonTarget | undefined): LinkView {
  if (target?.status === expired) return { kind: "expired" };
  if (target?.status !== pending) return { kind: "invalid" };
  const { kind, organization_name, email, first_name, last_name, is_member } = target;
  const invitation = { kind, first_name, last_name, is_member, has_password: target.password_hash !== null };
  return { kind: "open", organization: organization_name, email, invitation };
}
