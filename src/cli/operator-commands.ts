import { recordOperatorAction } from "../console/operator/operator-log.ts";
import { addOperator, listOperators, removeOperator } from "../oauth/operator-store.ts";
import { type CommandContext, CommandError, UsageError } from "./command.ts";
import { withCurrentDatabase, withDatabase } from "./command-database.ts";
import { confirm } from "./confirm.ts";
import { record, table } from "./output.ts";
import { passwordFromStdin } from "./password-input.ts";

/** The part of the user commands that is about operators: people who run the service and belong to no organization. */
const fromHere = { correlationId: null, remoteAddr: null };
const viaCli = { via: "cli" };

export async function createOperator(context: CommandContext, email: string): Promise<number> {
  const { args, clock } = context;
  for (const name of ["org", "role"]) {
    if (args.has(name)) throw new UsageError(`an operator belongs to no organization: leave out --${name}`);
  }
  const passwordHash = await passwordFromStdin(context);
  const now = clock.now();
  const added = await withDatabase(context, (db) =>
    db.transaction(async (tx) => {
      const result = await addOperator(tx, { email, passwordHash }, now);
      if (result.kind === "added") {
        const operator = { id: result.operator.id, email };
        await recordOperatorAction(tx, { operator, action: "operator_added", detail: viaCli }, fromHere, now);
      }
      return result;
    }),
  );
  if (added.kind === "already_operator") throw new CommandError(`${email} is already an operator: nothing was changed`);
  if (added.kind === "member") {
    const slugs = added.organizations.join(", ");
    throw new CommandError(`${email} is a member of ${slugs}: an operator needs an address of their own`);
  }
  if (passwordHash !== null && !added.passwordStored) {
    context.note(`${email} already has a password, which was kept; the one on stdin was not used.`);
  }
  const { id, portal_active } = added.operator;
  if (!portal_active)
    context.note(`Run "vigil user set-password --email ${email} --password-stdin" to let them sign in.`);
  const document = { id, email, role: null, operator: true, portal_active };
  context.print(document, `Made ${email} an operator.\n\n${record({ id, email, operator: true, portal_active })}`);
  return 0;
}

export async function printOperators(context: CommandContext): Promise<number> {
  const operators = await withCurrentDatabase(context, listOperators);
  const rows = operators.map((one) => [one.email, one.portal_active ? "yes" : "no", one.operator_since.toISOString()]);
  const text = table(["email", "can sign in", "operator since"], rows);
  context.print(operators, rows.length === 0 ? "No operators." : text);
  return 0;
}

export async function endOperator(context: CommandContext, email: string): Promise<number> {
  const now = context.clock.now();
  await confirm(context, `Ends the rights of the operator ${email}, and their sessions.`, email);
  const removed = await withDatabase(context, (db) =>
    db.transaction(async (tx) => {
      const person = await removeOperator(tx, email, now);
      if (!person) throw new CommandError(`${email} is no operator: "vigil user list --operators" shows them`);
      const operator = { id: person.id, email };
      await recordOperatorAction(tx, { operator, action: "operator_removed", detail: viaCli }, fromHere, now);
      return person;
    }),
  );
  const document = { id: removed.id, email, operator: false, deleted: true };
  context.print(document, `${email} is no longer an operator.`);
  return 0;
}
