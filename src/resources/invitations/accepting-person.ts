import type { Db, Tx } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { invalidCredentials } from "../../lib/errors.ts";
import { newUuid } from "../../lib/ids.ts";
import type { Actor } from "../../oauth/actor.ts";
import { hashSecret } from "../../oauth/client-secrets.ts";
import { fullNameOf } from "../../oauth/person-store.ts";
import { activate } from "../users/activation-store.ts";
import { acceptHeld, holdPending, type InvitationTarget } from "./accepting.ts";
import { effectiveStatus, type InvitationStatus, invitationTables } from "./invitation-record.ts";

/** The invited person accepts in the browser. The link proves the address, the password that it is the known person. */

export interface PersonTarget extends InvitationTarget {
  status: InvitationStatus;
  organization_name: string;
  locale: string;
  /** Of the person, whatever organizations they are in; null when they have none or are new. */
  password_hash: string | null;
  is_member: boolean;
}

/**
 * Undefined also when the device of a share was deleted: then there is nothing left to accept. A link that led to a partner's page
 * proves nothing here, because the partner has seen its token: such an invitation is accepted by the partner's server.
 */
export const findPersonTarget = (db: Db, token: string, now: Date): Promise<PersonTarget | undefined> =>
  db.maybeOne<PersonTarget>(sql`
    select i.id, i.organization_id, i.kind, i.email, i.role, i.first_name, i.last_name, i.device_id, i.token_hash,
      ${effectiveStatus(now)} as status, o.name as organization_name, o.default_locale as locale, u.password_hash,
      exists (
        select from memberships m
        where m.organization_id = i.organization_id and m.user_id = u.id and m.closed_at is null) as is_member
    from ${invitationTables}
    join organizations o on o.id = i.organization_id
    left join users u on u.email = i.email
    where i.token_hash = ${hashSecret(token)} and i.deleted_at is null and not i.is_partner_link
      and (i.device_id is null or exists (select from devices d where d.id = i.device_id and d.deleted_at is null))`);

export interface PersonAcceptance {
  firstName: string;
  lastName: string;
  /** The first password of the person; null for one who has proved to know the password they have. */
  newPasswordHash: string | null;
}

export async function acceptAsPerson(
  tx: Tx,
  target: PersonTarget,
  input: PersonAcceptance,
  origin: Pick<Actor, "correlationId" | "remoteAddr">,
  now: Date,
): Promise<void> {
  const { organization_id: organizationId, email } = target;
  const held = await holdPending(tx, target, now);
  const userId = await ensurePerson(tx, email, now);
  const fullName = fullNameOf(input.firstName || target.first_name, input.lastName || target.last_name);
  const actor: Actor = { organizationId, by: { type: "users", id: userId, email, fullName }, ...origin };
  const profile = { firstName: input.firstName, lastName: input.lastName, phoneNumber: "" };
  await acceptHeld(tx, target, held, profile, actor, now);
  if (input.newPasswordHash === null) return;
  const { organization_name: organizationName, locale } = target;
  const activation = { organizationId, organizationName, locale, userId, email, fullName, isExpired: false };
  // Someone else may have set a password since the page asked for a new one: then that one is needed.
  if (!(await activate(tx, activation, input.newPasswordHash, origin, now))) throw invalidCredentials();
}

/** The person must exist before the membership is made, because its audit entry names the person as the actor. */
async function ensurePerson(tx: Tx, email: string, now: Date): Promise<string> {
  await tx.run`
    insert into users (id, email, password_hash, created_at, updated_at)
    values (${newUuid()}, ${email}, null, ${now}, ${now}) on conflict (email) do nothing`;
  return (await tx.one<{ id: string }>`select id from users where email = ${email}`).id;
}
