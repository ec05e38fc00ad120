import type { Tx } from "../db/database.ts";
import type { Actor } from "../oauth/actor.ts";
import { recordAudit } from "../resources/audit/audit-store.ts";
import { findUser } from "../resources/users/user-record.ts";

type Origin = Pick<Actor, "correlationId" | "remoteAddr">;
interface Membership {
  userId: string;
  organizationId: string;
}

async function auditAccess(
  tx: Tx,
  { userId, organizationId }: Membership,
  what: Record<string, [unknown, unknown]>,
  origin: Origin,
  now: Date,
): Promise<void> {
  const user = await findUser(tx, organizationId, userId);
  if (!user) return;
  const fullName = `${user.first_name} ${user.last_name}`.trim();
  const by = { type: "users", id: userId, email: user.email, fullName } as const;
  await recordAudit(tx, { organizationId, by, ...origin }, now, {
    action: "updated",
    model: "user",
    objectPk: userId,
    objectRepr: user.email,
    changes: what,
  });
}

export const auditSignIn = (tx: Tx, membership: Membership, origin: Origin, now: Date): Promise<void> =>
  auditAccess(tx, membership, { sign_in: [null, "succeeded"] }, origin, now);

/** A person may belong to several organizations; each of them hears of it. Tries are bounded before they come here. */
export async function auditFailedSignIn(
  tx: Tx,
  memberships: readonly Membership[],
  origin: Origin,
  now: Date,
): Promise<void> {
  for (const membership of memberships) {
    await auditAccess(tx, membership, { sign_in: [null, "failed"] }, origin, now);
  }
}

export const auditPassword = (tx: Tx, membership: Membership, origin: Origin, now: Date): Promise<void> =>
  auditAccess(
    tx,
    membership,
    { password: ["***", "***"], password_changed_at: [null, now.toISOString()] },
    origin,
    now,
  );

export const auditSecondFactor = (
  tx: Tx,
  membership: Membership,
  isEnabled: boolean,
  origin: Origin,
  now: Date,
): Promise<void> => auditAccess(tx, membership, { second_factor: [!isEnabled, isEnabled] }, origin, now);
