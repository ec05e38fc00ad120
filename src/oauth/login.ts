import type { Database, Db } from "../db/database.ts";
import { hashSecret } from "./client-secrets.ts";
import { blockedSeconds, recordFailure } from "./failed-attempts.ts";
import { hashPassword, verifyPassword } from "./passwords.ts";

/** Ten failures of one address book entry from one place; and a higher bound for one person from everywhere. */
const perPlace = { kind: "login_place", failures: 10, windowSeconds: 900 } as const;
const perPerson = { kind: "login_person", failures: 100, windowSeconds: 900 } as const;

export type LoginOutcome =
  | { kind: "ok"; userId: string; organizationId: string; joinedAt: Date }
  | { kind: "wrong" }
  | { kind: "blocked"; waitSeconds: number }
  | { kind: "choose_organization" };

export interface LoginAttempt {
  email: string;
  password: string;
  /** A slug; blank as left out. */
  organization: string | undefined;
  address: string;
}

interface Candidate {
  user_id: string;
  password_hash: string | null;
  organization_id: string;
  slug: string;
  joined_at: Date;
}

/** Checks a password and picks the organization. Unknown addresses cost as much time as known ones. */
export async function logIn(db: Database, attempt: LoginAttempt, now: Date, decoyHash: string): Promise<LoginOutcome> {
  const email = attempt.email.trim().toLowerCase();
  const limits = [
    { limit: perPlace, subject: hashSecret(`${email}\n${attempt.address}`).toString("hex") },
    { limit: perPerson, subject: hashSecret(email).toString("hex") },
  ];
  for (const { limit, subject } of limits) {
    const wait = await blockedSeconds(db.point, limit, subject, now);
    if (wait > 0) return { kind: "blocked", waitSeconds: wait };
  }
  const memberships = await candidates(db, email);
  const passwordHash = memberships[0]?.password_hash ?? null;
  const matches = await verifyPassword(passwordHash ?? decoyHash, attempt.password);
  const wanted = attempt.organization?.trim().toLowerCase() || undefined;
  const inOrganization = memberships.filter(({ slug }) => wanted === undefined || slug === wanted);
  if (!matches || passwordHash === null || inOrganization.length === 0) {
    const waits = await Promise.all(limits.map(({ limit, subject }) => recordFailure(db, limit, subject, now)));
    const wait = Math.max(...waits);
    return wait > 0 ? { kind: "blocked", waitSeconds: wait } : { kind: "wrong" };
  }
  const [only, ...others] = inOrganization;
  if (!only || others.length > 0) return { kind: "choose_organization" };
  return { kind: "ok", userId: only.user_id, organizationId: only.organization_id, joinedAt: only.joined_at };
}

/** A hash of nothing anyone knows, compared when there is no hash to compare. */
export const makeDecoyHash = (random: string): Promise<string> => hashPassword(random);

const candidates = (db: Db, email: string): Promise<Candidate[]> =>
  db.many<Candidate>`
    select u.id as user_id, u.password_hash, o.id as organization_id, o.slug, m.joined_at
    from users u
    join memberships m on m.user_id = u.id and m.closed_at is null
    join organizations o on o.id = m.organization_id
    where u.email = ${email} order by o.slug`;
