import type { Tx } from "../db/database.ts";
import { sql } from "../db/sql.ts";
import { normalizeEmail } from "../lib/email.ts";
import { endSessionsOfUser } from "../oauth/browser-sessions.ts";
import { storePassword } from "../oauth/password-store.ts";
import { roleLabel } from "../oauth/roles.ts";
import { removeSecondFactor } from "../oauth/second-factor-store.ts";
import { masked, recordAudit } from "../resources/audit/audit-store.ts";
import { withdrawInvitations } from "../resources/use-cases/withdrawn-invitations.ts";
import { closeMember, lockMember } from "../resources/users/member-changes.ts";
import { findUserByEmail, type UserRow, userColumns, userTables } from "../resources/users/user-record.ts";
import { type Arguments, type Command, CommandError, type Option, UsageError } from "./command.ts";
import { withCurrentDatabase, withDatabase } from "./command-database.ts";
import { confirm, yesOption } from "./confirm.ts";
import { getOrganization, operatorIn } from "./operator.ts";
import { endOperator, printOperators } from "./operator-commands.ts";
import { record, table } from "./output.ts";
import { passwordFromStdin } from "./password-input.ts";

export const emailOption: Option = {
  name: "email",
  value: "E",
  required: true,
  summary: "e-mail address of the person",
};

export function emailArgument(args: Arguments): string {
  const email = normalizeEmail(args.value("email") ?? "");
  if (email === undefined) throw new UsageError(`--email: "${args.value("email")}" is not an e-mail address`);
  return email;
}

const view = (user: UserRow) => ({
  id: user.id,
  email: user.email,
  role: roleLabel(user.role),
  portal_active: user.portal_active,
  first_name: user.first_name,
  last_name: user.last_name,
  is_active: user.closed_at === null,
  created_at: user.created_at,
});

const list: Command = {
  path: ["user", "list"],
  summary: "List the members of an organization, or the operators",
  positionals: [],
  options: [
    { name: "org", value: "SLUG", summary: "organization" },
    { name: "operators", summary: "the operators of the service" },
    { name: "closed", summary: "also those whose membership was closed" },
  ],
  examples: [
    "vigil user list --org care-co",
    "vigil user list --org care-co --closed --json",
    "vigil user list --operators",
  ],
  next: ["vigil user set-password --email E --password-stdin"],
  run: async (context) => {
    const { args } = context;
    if (args.has("operators")) return printOperators(context);
    if (!args.has("org")) throw new UsageError("--org is missing");
    const users = await withCurrentDatabase(context, async (db) => {
      const { id } = await getOrganization(db, args.value("org") ?? "");
      const isVisible = args.has("closed") ? sql`true` : sql`m.is_open`;
      return db.many<UserRow>(sql`
        select ${userColumns} from ${userTables} where m.organization_id = ${id} and ${isVisible}
        order by m.email, m.user_id`);
    });
    const document = users.map(view);
    const rows = document.map((one) => [
      one.email,
      one.role,
      one.portal_active ? "yes" : "no",
      one.is_active ? "yes" : "no",
      `${one.first_name} ${one.last_name}`.trim(),
    ]);
    const text = table(["email", "role", "can sign in", "member", "name"], rows);
    context.print(document, rows.length === 0 ? "No members." : text);
    return 0;
  },
};

interface Person {
  id: string;
  email: string;
  organizationIds: string[];
}

/** A person exists once, whatever the organizations; the row is locked. */
async function lockPerson(tx: Tx, email: string): Promise<Person> {
  const person = await tx.maybeOne<{ id: string }>`select id from users where email = ${email} for no key update`;
  if (!person) throw new CommandError(`nobody has the address ${email}: "vigil user list --org SLUG" shows members`);
  const rows = await tx.many<{ organization_id: string }>`
    select organization_id from memberships where user_id = ${person.id} and closed_at is null order by 1`;
  return { id: person.id, email, organizationIds: rows.map(({ organization_id }) => organization_id) };
}

/** Each organization of the person reads it in its own audit log. */
async function auditPerson(tx: Tx, person: Person, changes: Record<string, [unknown, unknown]>, now: Date) {
  for (const organizationId of person.organizationIds) {
    const entry = { action: "updated", model: "user", objectPk: person.id, objectRepr: person.email, changes } as const;
    await recordAudit(tx, operatorIn(organizationId), now, entry);
  }
}

const setPassword: Command = {
  path: ["user", "set-password"],
  summary: "Give a person a new password and end their sessions",
  positionals: [],
  options: [
    emailOption,
    { name: "password-stdin", required: true, summary: "read the password from stdin" },
    { name: "reset-second-factor", summary: "also remove the second factor, of which the phone was lost" },
  ],
  examples: [
    "vigil user set-password --email ada@example.org --password-stdin < password.txt",
    "vigil user set-password --email ada@example.org --password-stdin --reset-second-factor --json < password.txt",
  ],
  next: ["The person signs in with the new password in every organization that they are a member of."],
  run: async (context) => {
    const { args, clock } = context;
    const email = emailArgument(args);
    const hash = await passwordFromStdin(context);
    if (hash === null) throw new UsageError("--password-stdin is missing");
    const isReset = args.has("reset-second-factor");
    const id = await withDatabase(context, (db) =>
      db.transaction(async (tx) => {
        const person = await lockPerson(tx, email);
        await storePassword(tx, person.id, hash, null, clock.now());
        if (isReset) await removeSecondFactor(tx, person.id);
        await auditPerson(tx, person, { password: [masked, masked] }, clock.now());
        return person.id;
      }),
    );
    const document = { id, email, portal_active: true, second_factor_removed: isReset };
    context.print(document, `Stored the password and ended the sessions of ${email}.\n\n${record(document)}`);
    return 0;
  },
};

const disable: Command = {
  path: ["user", "disable"],
  summary: "Take a person's password and end their sessions; memberships stay",
  positionals: [],
  options: [emailOption],
  examples: ["vigil user disable --email ada@example.org", "vigil user disable --email ada@example.org --json"],
  next: ["vigil user set-password --email E --password-stdin lets the person sign in again."],
  run: async (context) => {
    const { args, clock } = context;
    const email = emailArgument(args);
    const id = await withDatabase(context, (db) =>
      db.transaction(async (tx) => {
        const now = clock.now();
        const person = await lockPerson(tx, email);
        await tx.run`
          update users set password_hash = null, password_changed_at = ${now}, updated_at = ${now}
          where id = ${person.id}`;
        await tx.run`delete from password_resets where user_id = ${person.id}`;
        await tx.run`delete from activation_tokens where user_id = ${person.id}`;
        await endSessionsOfUser(tx, person.id, null);
        await auditPerson(tx, person, { password: [masked, null] }, now);
        return person.id;
      }),
    );
    const document = { id, email, portal_active: false };
    context.print(document, `${email} can no longer sign in.\n\n${record(document)}`);
    return 0;
  },
};

const remove: Command = {
  path: ["user", "delete"],
  summary: "End a person's membership of an organization, or their rights as an operator",
  positionals: [],
  options: [
    { name: "org", value: "SLUG", summary: "organization to leave" },
    { name: "operator", summary: "the person is no longer an operator" },
    emailOption,
    yesOption,
  ],
  examples: [
    "vigil user delete --org care-co --email ada@example.org",
    "vigil user delete --org care-co --email ada@example.org --yes --json",
    "vigil user delete --operator --email ops@example.org",
  ],
  next: ["vigil user create --org SLUG --email E --role R opens the membership again."],
  run: async (context) => {
    const { args, clock } = context;
    const email = emailArgument(args);
    if (args.has("operator")) return endOperator(context, email);
    if (!args.has("org")) throw new UsageError("--org is missing");
    const slug = args.value("org") ?? "";
    const document = await withDatabase(context, async (db) => {
      const { id: organizationId } = await getOrganization(db, slug);
      const found = await findUserByEmail(db, organizationId, email);
      if (found?.closed_at !== null) throw new CommandError(`${email} is not a member of ${slug}`);
      await confirm(context, `Ends the membership of ${email} in ${slug}, and their devices are released.`, email);
      return db.transaction(async (tx) => {
        const locked = await lockMember(tx, organizationId, found.id);
        if (!locked) throw new CommandError(`${email} is not a member of ${slug}`);
        const actor = operatorIn(organizationId);
        await closeMember(tx, organizationId, locked.user, actor, clock.now());
        await withdrawInvitations(tx, organizationId, { userId: found.id, role: null }, actor, clock.now());
        if (locked.isLastOwner) context.note(`${slug} has no owner any more.`);
        return { id: found.id, email, org: slug, deleted: true };
      });
    });
    context.print(document, `Ended the membership of ${email} in ${slug}.`);
    return 0;
  },
};

export const memberCommands: readonly Command[] = [list, setPassword, disable, remove];
