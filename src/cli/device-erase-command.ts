import { isImei } from "../lib/ids.ts";
import { countRows, eraseDevice, type FoundDevice, findDevices } from "../privacy/device-erasure.ts";
import { type Command, CommandError, UsageError } from "./command.ts";
import { withDatabase } from "./command-database.ts";
import { yesOption } from "./confirm.ts";
import { confirmPlan, describeCounts, describeDocument, makeErasure } from "./erasing.ts";

/** One organization: another one may have the device now, or have had it, and its history is not to be erased by accident. */
function requireOneOrganization(uid: string, devices: readonly FoundDevice[]): void {
  const slugs = [...new Set(devices.map(({ slug }) => slug))];
  if (slugs.length === 0) throw new CommandError(`nothing is held of a device ${uid}: check the IMEI and --org`);
  if (slugs.length > 1) {
    throw new CommandError(`${slugs.join(" and ")} have or had the device ${uid}: choose one with --org SLUG`);
  }
}

const erase: Command = {
  path: ["device", "erase"],
  summary: "Erase a device with its history, messages, recordings, events and outbound rows",
  positionals: [{ name: "UID", summary: "IMEI of a device, also of a deleted one" }],
  options: [
    { name: "org", value: "SLUG", summary: "of this organization, where several have had the device" },
    yesOption,
  ],
  examples: [
    "vigil device erase 490154203237518",
    "vigil device erase 490154203237518 --yes --json",
    "vigil device erase 490154203237518 --org care-co --yes",
  ],
  next: [
    "Run it again if it was interrupted: it goes on where it stopped.",
    "Backups still hold what was erased: remove them when their time has come, and erase again after a restore.",
  ],
  run: async (context) => {
    const { args } = context;
    const uid = args.positionals[0] ?? "";
    if (!isImei(uid)) throw new UsageError(`UID must be an IMEI of 15 digits, not "${uid}"`);
    const document = await withDatabase(context, async (db) => {
      const devices = await findDevices(db, uid, args.value("org")?.trim().toLowerCase());
      requireOneOrganization(uid, devices);
      const plan = [`Erases the device ${uid} of ${devices[0]?.slug} with`];
      for (const device of devices) plan.push(...describeCounts(await countRows(db, device)));
      plan.push("  its record, assignments, thresholds, outbound events, dead letters and attempts,");
      plan.push("  and takes it out of the audit log.");
      await confirmPlan(context, plan, uid);
      const erasure = makeErasure(context, db);
      for (const device of devices) await eraseDevice(erasure, device);
      const { rows, total } = erasure.report;
      return { org: devices[0]?.slug, ids: devices.map(({ id }) => id), rows, total };
    });
    context.print(document, `Erased the device.\n\n${describeDocument(document)}`);
    return 0;
  },
};

export const deviceEraseCommands: readonly Command[] = [erase];
