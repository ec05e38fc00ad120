import type { Database, Db } from "../db/database.ts";
import { networkOf } from "../lib/network-of.ts";
import type { SecretBox } from "../lib/secret-box.ts";
import { hashSecret } from "./client-secrets.ts";
import { type AttemptLimit, forgiveFailure, recordFailure } from "./failed-attempts.ts";
import { findOperatorByEmail, type OperatorIdentity } from "./operator-store.ts";
import type { PasswordWork } from "./password-work.ts";
import { hashPassword } from "./passwords.ts";
import { checkSecondFactor } from "./second-factor-store.ts";

/** Ten failures of one e-mail from one place, a higher bound for one e-mail from everywhere, and one for a place. */
const perPlace = { kind: "login_place", failures: 10, windowSeconds: 900 } as const;
const perPerson = { kind: "login_person", failures: 100, windowSeconds: 900 } as const;
const perNetwork = { kind: "login_network", failures: 30, windowSeconds: 60 } as const;

export type LoginOutcome =
  | { kind: "ok"; userId: string; organizationId: string; joinedAt: Date; passwordChangedAt: Date | null }
  | { kind: "operator"; operator: OperatorIdentity }
  /** The memberships of a known person, for the audit log of their organizations; the operator that was tried, for theirs. */
  | { kind: "wrong"; memberships: { userId: string; organizationId: string }[]; operator: OperatorIdentity | undefined }
  | { kind: "blocked"; waitSeconds: number }
  | { kind: "second_factor_required" }
  | { kind: "choose_organization" };

export interface LoginAttempt {
  email: string;
  password: string;
  /** A slug; blank as left out. */
  organization: string | undefined;
  /** The code of a second factor. */
  otp: string | undefined;
  address: string;
}

export interface LoginParts {
  db: Database;
  passwords: PasswordWork;
  secrets: SecretBox;
  /** Compared when there is no hash to compare, so that unknown e-mails cost as much time as known ones. */
  decoyHash: string;
}

interface Candidate {
  user_id: string;
  password_hash: string | null;
  password_changed_at: Date | null;
  organization_id: string;
  slug: string;
  joined_at: Date;
}

/** Checks a password and picks the organization; an operator who names none works in none. A try counts before it is looked at, so that parallel ones count too. */
export async function logIn(parts: LoginParts, attempt: LoginAttempt, now: Date): Promise<LoginOutcome> {
  const { db } = parts;
  const email = attempt.email.trim().toLowerCase();
  const place = networkOf(attempt.address);
  const limits: { limit: AttemptLimit; subject: string }[] = [
    { limit: perNetwork, subject: hashSecret(place).toString("hex") },
    { limit: perPlace, subject: hashSecret(`${email}\n${place}`).toString("hex") },
    { limit: perPerson, subject: hashSecret(email).toString("hex") },
  ];
  const forgive = async (): Promise<void> => {
    for (const { limit, subject } of limits) await forgiveFailure(db, limit, subject);
  };
  for (const { limit, subject } of limits) {
    const wait = await recordFailure(db, limit, subject, now);
    if (wait > 0) return { kind: "blocked", waitSeconds: wait };
  }
  const memberships = await candidates(db, email);
  const found = await findOperatorByEmail(db, email);
  const [first] = memberships;
  const passwordHash = first?.password_hash ?? found?.passwordHash ?? null;
  const matches = await parts.passwords.verify(passwordHash ?? parts.decoyHash, attempt.password);
  const wanted = attempt.organization?.trim().toLowerCase() || undefined;
  const inOrganization = memberships.filter(({ slug }) => wanted === undefined || slug === wanted);
  // Whoever names an organization wants to work there, as its member.
  const operator = wanted === undefined ? found : undefined;
  const wrong: LoginOutcome = {
    kind: "wrong",
    operator,
    memberships: memberships.map(({ user_id, organization_id }) => ({
      userId: user_id,
      organizationId: organization_id,
    })),
  };
  const [only, ...others] = inOrganization;
  const userId = operator?.userId ?? only?.user_id;
  if (!matches || passwordHash === null || userId === undefined) return wrong;
  const factor = await checkSecondFactor(parts, userId, attempt.otp, now);
  if (factor === "wrong") return wrong;
  await forgive();
  if (factor === "missing") return { kind: "second_factor_required" };
  if (operator) return { kind: "operator", operator };
  if (!only) return wrong;
  if (others.length > 0) return { kind: "choose_organization" };
  return {
    kind: "ok",
    userId: only.user_id,
    organizationId: only.organization_id,
    joinedAt: only.joined_at,
    passwordChangedAt: only.password_changed_at,
  };
}

/** A hash of nothing anyone knows. */
export const makeDecoyHash = (random: string): Promise<string> => hashPassword(random);

const candidates = (db: Db, email: string): Promise<Candidate[]> =>
  db.many<Candidate>`
    select u.id as user_id, u.password_hash, u.password_changed_at, o.id as organization_id, o.slug, m.joined_at
    from users u
    join memberships m on m.user_id = u.id and m.closed_at is null
    join organizations o on o.id = m.organization_id
    where u.email = ${email} order by o.slug`;
