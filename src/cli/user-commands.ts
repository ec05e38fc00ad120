import { normalizeEmail } from "../lib/email.ts";
import { memberRoles } from "../oauth/roles.ts";
import { addMember } from "../resources/users/member-store.ts";
import { type Command, CommandError, UsageError } from "./command.ts";
import { withDatabase } from "./command-database.ts";
import { getOrganization, operatorIn } from "./operator.ts";
import { createOperator } from "./operator-commands.ts";
import { knownWords } from "./option-values.ts";
import { record } from "./output.ts";
import { passwordFromStdin } from "./password-input.ts";

const create: Command = {
  path: ["user", "create"],
  summary: "Create a user, add a known person to an organization, or make an operator",
  positionals: [],
  options: [
    { name: "org", value: "SLUG", summary: "organization to join" },
    { name: "email", value: "E", required: true, summary: "e-mail address, which is also the login" },
    { name: "role", value: "R", summary: memberRoles.toReversed().join(", ") },
    { name: "operator", summary: "an operator of the service, who belongs to no organization" },
    { name: "password-stdin", summary: "read the password from stdin" },
  ],
  examples: [
    "vigil user create --org care-co --email ada@example.org --role USER",
    "vigil user create --org care-co --email ada@example.org --role OWNER --password-stdin < password.txt",
    "vigil user create --operator --email ops@example.org --password-stdin < password.txt",
  ],
  next: ["With a password the person can sign in to the console; without one, invite them through the API."],
  run: async (context) => {
    const { args, clock } = context;
    const email = normalizeEmail(args.value("email") ?? "");
    if (email === undefined) throw new UsageError(`--email: "${args.value("email")}" is not an e-mail address`);
    if (args.has("operator")) return createOperator(context, email);
    for (const name of ["org", "role"]) if (!args.has(name)) throw new UsageError(`--${name} is missing`);
    const [role] = knownWords("role", [(args.value("role") ?? "").trim().toUpperCase()], memberRoles);
    if (role === undefined) throw new UsageError("--role is missing");
    const slug = args.value("org") ?? "";
    const passwordHash = await passwordFromStdin(context);
    const added = await withDatabase(context, (db) =>
      db.transaction(async (tx) => {
        const { id } = await getOrganization(tx, slug);
        return addMember(tx, id, { email, role, passwordHash }, operatorIn(id), clock.now());
      }),
    );
    if (added.kind === "already_member") {
      throw new CommandError(`${email} is already a member of ${slug} with role ${added.role}: nothing was changed`);
    }
    if (passwordHash !== null && !added.passwordStored) {
      context.note(`${email} already has a password, which was kept; the one on stdin was not used.`);
    }
    const { member } = added;
    const document = { id: member.userId, email: member.email, role: member.role, portal_active: member.portalActive };
    const what = added.kind === "reopened" ? "Reopened the membership of" : "Added";
    context.print(document, `${what} ${email} in ${slug}.\n\n${record(document)}`);
    return 0;
  },
};

export const userCommands: readonly Command[] = [create];
