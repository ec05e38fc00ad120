import type { Db } from "../db/database.ts";
import type { Caller, OperatorPrincipal, PersonPrincipal } from "../http/principal.ts";
import { invalidToken } from "../lib/errors.ts";
import type { Origin } from "../oauth/actor.ts";
import type { OperatorIdentity } from "../oauth/operator-store.ts";
import { type OperatorAction, recordOperatorAction } from "./operator/operator-log.ts";

/** Somebody with a password: what they do with the own account is the same, whether or not they belong to an organization. */
export type Human = PersonPrincipal | OperatorPrincipal;

export function humanOf(caller: Caller): Human {
  if (caller.kind === "partner") throw invalidToken();
  return caller;
}

export const emailOf = (human: Human): string =>
  human.kind === "operator" ? human.operator.email : human.person.email;

/** What an operator sees of themselves; a member sees the record of the membership. */
export const operatorUser = ({ userId, email }: OperatorIdentity) => ({ id: userId, email, full_name: "" });

export const logOwnAction = (
  db: Db,
  { id, operator: { email } }: OperatorPrincipal,
  action: OperatorAction,
  origin: Origin,
  now: Date,
): Promise<void> => recordOperatorAction(db, { operator: { id, email }, action }, origin, now);
