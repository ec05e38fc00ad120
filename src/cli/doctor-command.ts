import { isEspeakInstalled } from "../audio/espeak.ts";
import { migrationStatus } from "../db/migrate.ts";
import { listExpired } from "../db/partitions.ts";
import { findLastBackup } from "../roles/last-backup.ts";
import { tablesOf } from "../roles/partitioned-tables.ts";
import { readArchiveState } from "../roles/wal-archive.ts";
import { type Command, type CommandContext, CommandError } from "./command.ts";
import { withBareDatabase } from "./command-database.ts";
import {
  type Check,
  checkBackup,
  checkBaseUrl,
  checkClock,
  checkDataDir,
  checkDiskSpace,
  checkMail,
  checkNode,
  checkPorts,
  checkRetention,
  checkSecretKey,
  checkSpeech,
  checkWalArchive,
  hasEmbeddedDatabase,
} from "./doctor-checks.ts";
import { explainFailure } from "./failures.ts";
import { table } from "./output.ts";
import { programVersion } from "./program-version.ts";
import { writeSupportBundle } from "./support-bundle.ts";

const oldestServer = 150_000;

async function checkDatabase(context: CommandContext): Promise<{ checks: Check[]; nowMs: number | undefined }> {
  const { config } = context;
  if (config.databaseUrl === undefined && !hasEmbeddedDatabase(config)) {
    const detail = "none yet: the first start creates it";
    return { checks: [{ name: "database", ok: true, detail }], nowMs: undefined };
  }
  try {
    return await withBareDatabase(context, async (db) => {
      const server = await db.one<{ version: string; number: number; now: Date }>`
        select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
          clock_timestamp() as now`;
      const isNewEnough = server.number >= oldestServer;
      const kind = config.databaseUrl === undefined ? "embedded" : "external";
      const advice = isNewEnough ? "" : " is too old: use PostgreSQL 15 or newer";
      const migrations = await migrationStatus(db);
      const missing = migrations.filter(({ appliedAt }) => appliedAt === null).length;
      const isCurrent = missing === 0;
      return {
        checks: [
          ...(isCurrent
            ? [checkRetention(config, await listExpired(db, tablesOf(config), Date.now()), server.now)]
            : []),
          ...(isCurrent && config.databaseUrl === undefined
            ? [
                checkBackup(await findLastBackup(db), context.clock.nowMs()),
                checkWalArchive(config, await readArchiveState(db)),
              ]
            : []),
          { name: "database", ok: isNewEnough, detail: `${kind} PostgreSQL ${server.version}${advice}` },
          {
            name: "migrations",
            ok: missing === 0,
            detail: missing === 0 ? `schema ${migrations.length}` : `${missing} missing: run "vigil db migrate"`,
          },
        ],
        nowMs: server.now.getTime(),
      };
    });
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
    const database = await checkDatabase(context);
    const checks = [
      checkNode(process.version),
      await checkDataDir(config),
      await checkDiskSpace(config),
      ...database.checks,
      ...(await checkPorts(config)),
      // The real time of this machine, not that of a drill.
      checkClock(config, Date.now(), database.nowMs),
      checkSecretKey(config),
      checkBaseUrl(config),
      checkMail(config),
      checkSpeech(config, isEspeakInstalled()),
    ];
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
