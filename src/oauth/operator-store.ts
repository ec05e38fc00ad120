import type { Db, Tx } from "../db/database.ts";
import { newUuid } from "../lib/ids.ts";
import { endSessionsOfUser } from "./browser-sessions.ts";

/** A person who runs the service. Operators belong to no organization, and see nothing that belongs to one. */
export interface OperatorIdentity {
  userId: string;
  email: string;
  /** A person who is made an operator again needs a new session. */
  since: Date;
  /** Null: the password is the first one. Session tokens that began before it are over. */
  passwordChangedAt: Date | null;
}

/** Undefined: the person is no operator, or no longer. */
export const findOperator = (db: Db, userId: string): Promise<OperatorIdentity | undefined> =>
  db.maybeOne<OperatorIdentity>`
    select id as "userId", email, operator_since as since, password_changed_at as "passwordChangedAt"
    from users where id = ${userId} and operator_since is not null`;

/** Whose password signs an operator in. */
export interface OperatorCandidate extends OperatorIdentity {
  passwordHash: string | null;
}

export const findOperatorByEmail = (db: Db, email: string): Promise<OperatorCandidate | undefined> =>
  db.maybeOne<OperatorCandidate>`
    select id as "userId", email, operator_since as since, password_changed_at as "passwordChangedAt",
      password_hash as "passwordHash"
    from users where email = ${email} and operator_since is not null`;

export interface ListedOperator {
  id: string;
  email: string;
  portal_active: boolean;
  operator_since: Date;
}

export const listOperators = (db: Db): Promise<ListedOperator[]> =>
  db.many<ListedOperator>`
    select id, email, password_hash is not null as portal_active, operator_since
    from users where operator_since is not null order by email`;

export type AddedOperator =
  | { kind: "added"; operator: ListedOperator; passwordStored: boolean }
  | { kind: "already_operator" }
  /** The slugs of the organizations that the person is a member of. */
  | { kind: "member"; organizations: string[] };

/**
 * Makes the person if the address is new. A member of an organization is refused: an operator has an address of their own. A
 * password is stored only if the person has none, because nobody but the person changes it.
 */
export async function addOperator(
  tx: Tx,
  { email, passwordHash }: { email: string; passwordHash: string | null },
  now: Date,
): Promise<AddedOperator> {
  await tx.run`
    insert into users (id, email, password_hash, created_at, updated_at)
    values (${newUuid()}, ${email}, null, ${now}, ${now}) on conflict (email) do nothing`;
  const person = await tx.one<{ id: string; has_password: boolean; operator_since: Date | null }>`
    select id, password_hash is not null as has_password, operator_since from users
    where email = ${email} for no key update`;
  if (person.operator_since !== null) return { kind: "already_operator" };
  const memberships = await tx.many<{ slug: string }>`
    select o.slug from memberships m join organizations o on o.id = m.organization_id
    where m.user_id = ${person.id} and m.closed_at is null order by o.slug`;
  if (memberships.length > 0) return { kind: "member", organizations: memberships.map(({ slug }) => slug) };
  const passwordStored = passwordHash !== null && !person.has_password;
  const operator = await tx.one<ListedOperator>`
    update users set operator_since = ${now}, updated_at = ${now},
      password_hash = coalesce(password_hash, ${passwordHash})
    where id = ${person.id}
    returning id, email, password_hash is not null as portal_active, operator_since`;
  return { kind: "added", operator, passwordStored };
}

/** Undefined: nobody with this address is an operator. Ends all sessions of the person. */
export async function removeOperator(tx: Tx, email: string, now: Date): Promise<{ id: string } | undefined> {
  const person = await tx.maybeOne<{ id: string }>`
    update users set operator_since = null, updated_at = ${now}
    where email = ${email} and operator_since is not null returning id`;
  if (person) await endSessionsOfUser(tx, person.id, null);
  return person;
}
