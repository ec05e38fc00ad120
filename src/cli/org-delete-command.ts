import { removeOrganization } from "../roles/organization-removal.ts";
import type { Command } from "./command.ts";
import { withDatabase } from "./command-database.ts";
import { confirm, yesOption } from "./confirm.ts";
import { getOrganization, operatorIn } from "./operator.ts";
import { record } from "./output.ts";

const remove: Command = {
  path: ["org", "delete"],
  summary: "Delete an organization with its devices, history, integrations and members",
  positionals: [{ name: "SLUG", summary: "slug of the organization" }],
  options: [yesOption],
  examples: ["vigil org delete care-co", "vigil org delete care-co --yes --json"],
  next: ["vigil org list", "Backups still hold what was deleted: remove them when their time has come."],
  run: async (context) => {
    const { args, clock } = context;
    const document = await withDatabase(context, async (db) => {
      const { id, slug, name } = await getOrganization(db, args.positionals[0] ?? "");
      const held = await db.one<{ devices: number; members: number }>`
        select (select count(*) from devices where organization_id = ${id} and deleted_at is null) as devices,
          (select count(*) from memberships where organization_id = ${id} and closed_at is null) as members`;
      const what = `Deletes the organization ${name} (${slug}) with ${held.devices} devices, all their history, and ${held.members} members.`;
      await confirm(context, what, slug);
      return { id, slug, ...(await removeOrganization(db, id, operatorIn(id), clock.now())) };
    });
    context.print(document, `Deleted organization ${document.slug}.\n\n${record(document)}`);
    return 0;
  },
};

export const orgDeleteCommands: readonly Command[] = [remove];
