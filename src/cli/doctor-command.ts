import { checkDatabase, type DatabaseChecks, runChecks } from "../roles/doctor.ts";
import { hasEmbeddedDatabase } from "../roles/doctor-checks.ts";
import { type Command, type CommandContext, CommandError } from "./command.ts";
import { withBareDatabase } from "./command-database.ts";
import { explainFailure } from "./failures.ts";
import { table } from "./output.ts";
import { programVersion } from "./program-version.ts";
import { writeSupportBundle } from "./support-bundle.ts";

async function askDatabase(context: CommandContext): Promise<DatabaseChecks> {
  const { config } = context;
  if (config.databaseUrl === undefined && !hasEmbeddedDatabase(config)) {
    const detail = "none yet: the first start creates it";
    return { checks: [{ name: "database", ok: true, detail }], nowMs: undefined };
  }
  try {
    return await withBareDatabase(context, (db) => checkDatabase(db, config, context.clock.nowMs()));
  } catch (error) {
    const detail = error instanceof CommandError ? error.message : explainFailure(error);
    return { checks: [{ name: "database", ok: false, detail }], nowMs: undefined };
  }
}

const doctor: Command = {
  path: ["doctor"],
  summary: "Check this machine and the settings",
  positionals: [],
  options: [
    { name: "bundle", value: "FILE", summary: "also write a file for support: versions, settings, sizes and metrics" },
  ],
  examples: [
    "vigil doctor",
    "vigil doctor --data-dir /var/lib/vigil --json",
    "vigil doctor --data-dir /var/lib/vigil --bundle vigil-support.json",
  ],
  next: ["Follow the advice of each check that failed, then run it again.", "vigil start"],
  run: async (context) => {
    const { args, config } = context;
    const checks = await runChecks(config, await askDatabase(context));
    const failed = checks.filter(({ ok }) => !ok);
    const ok = failed.length === 0;
    const rows = checks.map((check) => [check.ok ? "ok" : "FAILED", check.name, check.detail]);
    const bundle = args.value("bundle");
    if (bundle !== undefined) await writeSupportBundle(context, bundle, await programVersion(), checks);
    context.print({ ok, checks, ...(bundle === undefined ? {} : { bundle }) }, table(["", "check", "detail"], rows));
    if (bundle !== undefined && !args.has("json"))
      context.note(`vigil: wrote ${bundle}; read it before you send it to anybody`);
    if (!ok) context.note(`vigil: ${failed.map(({ name }) => name).join(", ")} failed: follow the advice above`);
    return ok ? 0 : 1;
  },
};

export const doctorCommands: readonly Command[] = [doctor];
