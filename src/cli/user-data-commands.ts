import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Db } from "../db/database.ts";
import { countRows } from "../privacy/device-erasure.ts";
import {
  countFormerDevices,
  countPersonRows,
  countPhoneSettings,
  findPerson,
  listOwnedDevices,
  type Person,
} from "../privacy/person.ts";
import { erasePerson } from "../privacy/person-erasure.ts";
import { writeExport } from "../privacy/personal-export.ts";
import { type Command, CommandError } from "./command.ts";
import { withCurrentDatabase, withDatabase } from "./command-database.ts";
import { yesOption } from "./confirm.ts";
import { confirmPlan, describeCounts, describeDocument, makeErasure, makeRowProgress } from "./erasing.ts";
import { emailArgument, emailOption } from "./member-commands.ts";
import { getOrganization } from "./operator.ts";

const exportData: Command = {
  path: ["user", "export"],
  summary: "Write all that is held of a person and the devices they own into a ZIP file",
  positionals: [],
  options: [
    { name: "org", value: "SLUG", required: true, summary: "organization whose data it is" },
    emailOption,
    { name: "out", value: "FILE", required: true, summary: "the file; a name that does not exist yet" },
  ],
  examples: [
    "vigil user export --org care-co --email ada@example.org --out ada.zip",
    "vigil user export --org care-co --email ada@example.org --out /safe/ada.zip --json",
  ],
  next: ["Check who asks before you hand the file over: it holds health data and positions."],
  run: async (context) => {
    const { args, clock, note } = context;
    const email = emailArgument(args);
    const file = resolve(args.value("out") ?? "");
    if (existsSync(file)) throw new CommandError(`${file} exists already: choose another name`);
    const document = await withCurrentDatabase(context, async (db) => {
      const { id: organizationId, slug } = await getOrganization(db, args.value("org") ?? "");
      const found = await findPerson(db, email);
      const { userId } = found;
      if (userId === undefined || !found.memberships.some((one) => one.organizationId === organizationId)) {
        throw new CommandError(
          `${email} is not and was not a member of ${slug}: "vigil user list --closed" shows members`,
        );
      }
      const devices = await listOwnedDevices(db, found, organizationId);
      const uids = devices.map(({ uid }) => uid);
      const rows = await writeExport(file, {
        db,
        person: { organizationId, email, userId },
        devices,
        now: clock.now(),
        about: { email, organization: slug, devices: uids },
        onRows: makeRowProgress(note, "exported"),
      });
      return { file, email, org: slug, devices: uids, rows };
    });
    context.print(document, `Wrote ${file}.\n\n${describeDocument(document)}`);
    return 0;
  },
};

/** What will be done, and what will not. */
async function planOf(db: Db, person: Person, isWithDevices: boolean): Promise<string[]> {
  const devices = await listOwnedDevices(db, person);
  const slugs = person.memberships.map(({ slug }) => slug);
  const plan = [
    `Erases ${person.email}${slugs.length === 0 ? "" : ` in ${slugs.join(", ")}`}: password, sessions, links,`,
  ];
  plan.push("  names, messages they sent, mails, and what the audit log says of them, and");
  plan.push(
    ...describeCounts(Object.fromEntries((await countPersonRows(db, person)).map((one) => [one.table, one.count]))),
  );
  for (const device of devices) {
    if (isWithDevices) {
      plan.push(`The device ${device.uid} of ${device.slug} with`, ...describeCounts(await countRows(db, device)));
    } else plan.push(`Keeps the device ${device.uid} of ${device.slug} with its history: --devices erases it too.`);
  }
  const former = await countFormerDevices(db, person);
  if (former > 0) {
    plan.push(`Keeps ${former} device(s) that they owned before: "vigil device erase UID" erases the history of one.`);
  }
  const erased = isWithDevices ? devices.map(({ id }) => id) : [];
  const phones = await countPhoneSettings(db, person, erased);
  if (phones > 0) plan.push(`Keeps their phone number in the settings of ${phones} device(s): change it there.`);
  return plan;
}

const erase: Command = {
  path: ["user", "erase"],
  summary: "Erase a person in all organizations, and with --devices what they own",
  positionals: [],
  options: [
    emailOption,
    { name: "devices", summary: "also the devices that the person owns, with their whole history" },
    yesOption,
  ],
  examples: [
    "vigil user erase --email ada@example.org",
    "vigil user erase --email ada@example.org --devices --yes --json",
  ],
  next: [
    "Run it again if it was interrupted: it goes on where it stopped.",
    "Backups still hold what was erased: remove them when their time has come, and erase again after a restore.",
  ],
  run: async (context) => {
    const { args } = context;
    const email = emailArgument(args);
    const isWithDevices = args.has("devices");
    const document = await withDatabase(context, async (db) => {
      const person = await findPerson(db, email);
      await confirmPlan(context, await planOf(db, person, isWithDevices), email);
      const erasure = makeErasure(context, db);
      const devices = isWithDevices ? await listOwnedDevices(db, person) : [];
      await erasePerson(erasure, person, isWithDevices);
      const { rows, total } = erasure.report;
      if (total === 0) throw new CommandError(`nothing is held of ${email}`);
      return { id: person.userId ?? null, devices: devices.length, rows, total };
    });
    context.print(document, `Erased the person.\n\n${describeDocument(document)}`);
    return 0;
  },
};

export const userDataCommands: readonly Command[] = [exportData, erase];
