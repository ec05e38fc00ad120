import { Type } from "@sinclair/typebox";
import type { Database, Db, Tx } from "../db/database.ts";
import { noContent, ok, type Route, route } from "../http/route.ts";
import { throttled, validationError } from "../lib/errors.ts";
import type { SecretBox } from "../lib/secret-box.ts";
import type { Origin } from "../oauth/actor.ts";
import { forgiveFailure, recordFailure } from "../oauth/failed-attempts.ts";
import { findPasswordHash, storePassword } from "../oauth/password-store.ts";
import type { PasswordWork } from "../oauth/password-work.ts";
import { isAcceptablePassword, maxPasswordLength, minPasswordLength } from "../oauth/passwords.ts";
import {
  beginSecondFactor,
  checkSecondFactor,
  confirmSecondFactor,
  findFactorState,
  removeSecondFactor,
} from "../oauth/second-factor-store.ts";
import { forEveryone } from "./account-routes.ts";
import { emailOf, type Human, humanOf, logOwnAction } from "./operator-account.ts";
import { auditPassword, auditSecondFactor } from "./sign-in-audit.ts";

export interface CredentialOptions {
  db: Database;
  passwords: PasswordWork;
  secrets: SecretBox;
}

const Password = Type.String({ minLength: 1, maxLength: maxPasswordLength });
/** A session that somebody left open lets its finder try the password; not often. */
const wrongPasswords = { kind: "own_password", failures: 10, windowSeconds: 900 } as const;

export const passwordTooShort = `Ensure this field has at least ${minPasswordLength} characters.`;

/** Password and second factor of the person who calls. */
export function credentialRoutes({ db: database, passwords, secrets }: CredentialOptions): Route[] {
  async function checkOwnPassword(db: Db, userId: string, field: string, password: string, now: Date): Promise<void> {
    const wait = await recordFailure(db, wrongPasswords, userId, now);
    if (wait > 0) throw throttled(wait);
    const hash = await findPasswordHash(db, userId);
    if (hash === null || !(await passwords.verify(hash, password))) {
      throw validationError({ [field]: ["The password is wrong."] });
    }
    await forgiveFailure(db, wrongPasswords, userId);
  }

  function logSecondFactor(tx: Tx, human: Human, isEnabled: boolean, origin: Origin, now: Date): Promise<void> {
    if (human.kind === "operator") {
      return logOwnAction(tx, human, isEnabled ? "second_factor_enabled" : "second_factor_disabled", origin, now);
    }
    const membership = { userId: human.id, organizationId: human.organization.id };
    return auditSecondFactor(tx, membership, isEnabled, origin, now);
  }

  return [
    route({
      ...forEveryone,
      method: "POST",
      path: "/console/api/password/",
      operationId: "console_password_change",
      summary: "Change your own password",
      body: Type.Object({ current_password: Password, new_password: Password }),
      responses: { 204: null },
      async handle({ caller, body, now, origin }) {
        const human = humanOf(caller);
        const { id, browserSessionId } = human;
        await checkOwnPassword(database, id, "current_password", body.current_password, now);
        if (!isAcceptablePassword(body.new_password)) throw validationError({ new_password: [passwordTooShort] });
        const hash = await passwords.hash(body.new_password);
        await database.transaction(async (tx) => {
          await storePassword(tx, id, hash, browserSessionId, now);
          if (human.kind === "operator") await logOwnAction(tx, human, "password_changed", origin, now);
          else await auditPassword(tx, { userId: id, organizationId: human.organization.id }, origin, now);
        });
        return noContent();
      },
    }),
    route({
      ...forEveryone,
      method: "GET",
      path: "/console/api/second-factor/",
      operationId: "console_second_factor",
      summary: "Whether a second factor is required",
      responses: { 200: Type.Any() },
      handle: async ({ caller, db }) => ok(await findFactorState(db, humanOf(caller).id)),
    }),
    route({
      ...forEveryone,
      method: "POST",
      path: "/console/api/second-factor/",
      operationId: "console_second_factor_begin",
      summary: "Start setting up a second factor",
      body: Type.Object({ password: Password }),
      responses: { 200: Type.Any() },
      async handle({ caller, body, now }) {
        const human = humanOf(caller);
        const { id } = human;
        await checkOwnPassword(database, id, "password", body.password, now);
        const begun = await beginSecondFactor({ db: database, secrets }, { id, email: emailOf(human) }, now);
        if (!begun) throw validationError({ non_field_errors: ["A second factor is already set up."] });
        return ok(begun);
      },
    }),
    route({
      ...forEveryone,
      method: "POST",
      path: "/console/api/second-factor/confirm/",
      operationId: "console_second_factor_confirm",
      summary: "Confirm the second factor with a first code",
      body: Type.Object({ otp: Type.String({ minLength: 1, maxLength: 40 }) }),
      responses: { 200: Type.Any() },
      async handle({ caller, body, now, origin, transaction }) {
        const human = humanOf(caller);
        const { id } = human;
        const wait = await recordFailure(database, wrongPasswords, id, now);
        if (wait > 0) throw throttled(wait);
        const codes = await transaction(async (tx) => {
          const made = await confirmSecondFactor(tx, secrets, id, body.otp, now);
          if (made) await logSecondFactor(tx, human, true, origin, now);
          return made;
        });
        if (!codes) throw validationError({ otp: ["The code is wrong."] });
        await forgiveFailure(database, wrongPasswords, id);
        return ok({ recovery_codes: codes });
      },
    }),
    route({
      ...forEveryone,
      method: "POST",
      path: "/console/api/second-factor/disable/",
      operationId: "console_second_factor_disable",
      summary: "Remove the second factor",
      body: Type.Object({ password: Password, otp: Type.String({ minLength: 1, maxLength: 40 }) }),
      responses: { 204: null },
      async handle({ caller, body, now, origin, transaction }) {
        const human = humanOf(caller);
        const { id } = human;
        await checkOwnPassword(database, id, "password", body.password, now);
        if ((await checkSecondFactor({ db: database, secrets }, id, body.otp, now)) !== "ok") {
          throw validationError({ otp: ["The code is wrong."] });
        }
        await transaction(async (tx) => {
          await removeSecondFactor(tx, id);
          await logSecondFactor(tx, human, false, origin, now);
        });
        return noContent();
      },
    }),
  ];
}
