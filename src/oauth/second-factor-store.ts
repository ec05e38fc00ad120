import { randomBytes } from "node:crypto";
import type { Database, Db, Tx } from "../db/database.ts";
import type { SecretBox } from "../lib/secret-box.ts";
import { hashSecret } from "./client-secrets.ts";
import { acceptedStep, base32, otpauthUrl } from "./totp.ts";

/** The second factor of a person: codes of an authenticator app, and recovery codes for the day the phone is lost. */
const secretBytes = 20;
const recoveryCodeCount = 10;

interface FactorRow {
  sealed_secret: string;
  confirmed_at: Date | null;
  last_step: string;
}

export interface SecondFactorParts {
  db: Database;
  secrets: SecretBox;
}

const findFactor = (db: Db, userId: string): Promise<FactorRow | undefined> =>
  db.maybeOne<FactorRow>`
    select sealed_secret, confirmed_at, last_step::text from second_factors where user_id = ${userId}`;

const openSecret = (secrets: SecretBox, sealed: string): Buffer => Buffer.from(secrets.open(sealed), "base64url");

export interface FactorState {
  enabled: boolean;
  recovery_codes_left: number;
}

export async function findFactorState(db: Db, userId: string): Promise<FactorState> {
  const factor = await findFactor(db, userId);
  const { left } = await db.one<{ left: number }>`
    select count(*)::int as left from recovery_codes where user_id = ${userId} and used_at is null`;
  return { enabled: factor?.confirmed_at != null, recovery_codes_left: left };
}

/** Undefined: one is in use already. A secret that was never confirmed is replaced. */
export async function beginSecondFactor(
  { db, secrets }: SecondFactorParts,
  user: { id: string; email: string },
  now: Date,
): Promise<{ secret: string; otpauth_url: string } | undefined> {
  const secret = randomBytes(secretBytes);
  const sealed = secrets.seal(secret.toString("base64url"));
  const stored = await db.run`
    insert into second_factors as f (user_id, sealed_secret, created_at) values (${user.id}, ${sealed}, ${now})
    on conflict (user_id) do update set sealed_secret = excluded.sealed_secret, created_at = excluded.created_at
    where f.confirmed_at is null`;
  return stored === 0 ? undefined : { secret: base32(secret), otpauth_url: otpauthUrl(secret, user.email) };
}

/** The recovery codes, returned once; undefined: the code is wrong, or there is nothing to confirm. */
export async function confirmSecondFactor(
  tx: Tx,
  secrets: SecretBox,
  userId: string,
  code: string,
  now: Date,
): Promise<string[] | undefined> {
  const factor = await findFactor(tx, userId);
  if (!factor || factor.confirmed_at !== null) return undefined;
  const step = acceptedStep(openSecret(secrets, factor.sealed_secret), code, now.getTime(), 0);
  if (step === undefined) return undefined;
  const confirmed = await tx.run`
    update second_factors set confirmed_at = ${now}, last_step = ${step}
    where user_id = ${userId} and confirmed_at is null`;
  if (confirmed === 0) return undefined;
  const codes = Array.from({ length: recoveryCodeCount }, () => base32(randomBytes(10)).toLowerCase());
  await tx.run`delete from recovery_codes where user_id = ${userId}`;
  for (const one of codes) {
    await tx.run`insert into recovery_codes (user_id, code_hash) values (${userId}, ${hashSecret(one)})`;
  }
  return codes;
}

export async function removeSecondFactor(tx: Tx, userId: string): Promise<void> {
  await tx.run`delete from recovery_codes where user_id = ${userId}`;
  await tx.run`delete from second_factors where user_id = ${userId}`;
}

/** A code works once: the step of an accepted one is stored, a recovery code is used up. */
export async function checkSecondFactor(
  { db, secrets }: SecondFactorParts,
  userId: string,
  code: string | undefined,
  now: Date,
): Promise<"ok" | "missing" | "wrong"> {
  const factor = await findFactor(db, userId);
  if (!factor || factor.confirmed_at === null) return "ok";
  if (code === undefined || code.trim() === "") return "missing";
  const secret = openSecret(secrets, factor.sealed_secret);
  const step = acceptedStep(secret, code.trim(), now.getTime(), Number(factor.last_step));
  const used =
    step === undefined
      ? await db.run`
          update recovery_codes set used_at = ${now}
          where user_id = ${userId} and code_hash = ${hashSecret(code.trim().toLowerCase())} and used_at is null`
      : await db.run`
          update second_factors set last_step = ${step} where user_id = ${userId} and last_step < ${step}`;
  return used > 0 ? "ok" : "wrong";
}
