import { freemem } from "node:os";
import { isEspeakInstalled } from "../audio/espeak.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { findNotedDistribution, readDistribution } from "../db/distribution.ts";
import { migrationStatus } from "../db/migrate.ts";
import { listExpired } from "../db/partitions.ts";
import {
  type Check,
  checkBackup,
  checkBaseUrl,
  checkClock,
  checkDataDir,
  checkDiskSpace,
  checkDistribution,
  checkMail,
  checkNode,
  checkPorts,
  checkRetention,
  checkSecretKey,
  checkSpeech,
  checkWalArchive,
} from "./doctor-checks.ts";
import { checkHotServers } from "./hot-servers-check.ts";
import { findLastBackup } from "./last-backup.ts";
import {
  checkDiskSpeed,
  checkMemory,
  checkOpenFiles,
  measureSyncMs,
  memoryLimitBytes,
  readOpenFilesLimit,
} from "./machine-checks.ts";
import { tablesOf } from "./partitioned-tables.ts";
import { checkReadReplica } from "./read-replica-check.ts";
import { readArchiveState } from "./wal-archive.ts";

const oldestServer = 150_000;

export interface DatabaseChecks {
  checks: Check[];
  /** The time of the database; undefined when it could not be asked. */
  nowMs: number | undefined;
}

export async function checkDatabase(db: Database, config: Config, nowMs: number): Promise<DatabaseChecks> {
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
      ...(isCurrent ? [checkRetention(config, await listExpired(db, tablesOf(config), Date.now()), server.now)] : []),
      ...(isCurrent && config.databaseUrl === undefined
        ? [checkBackup(await findLastBackup(db), nowMs), checkWalArchive(config, await readArchiveState(db))]
        : []),
      ...(isCurrent ? checkDistribution(await readDistribution(db), await findNotedDistribution(db)) : []),
      ...(await checkReadReplica(config, db)),
      ...(await checkHotServers(config, db)),
      { name: "database", ok: isNewEnough, detail: `${kind} PostgreSQL ${server.version}${advice}` },
      {
        name: "migrations",
        ok: isCurrent,
        detail: isCurrent ? `schema ${migrations.length}` : `${missing} missing: run "vigil db migrate"`,
      },
    ],
    nowMs: server.now.getTime(),
  };
}

/** All checks, given what the database said. */
export const runChecks = async (config: Config, database: DatabaseChecks): Promise<Check[]> => [
  checkNode(process.version),
  await checkDataDir(config),
  await checkDiskSpace(config),
  checkDiskSpeed(config, config.databaseUrl === undefined ? measureSyncMs(config.dataDir) : undefined),
  checkMemory(memoryLimitBytes(), freemem()),
  checkOpenFiles(config, readOpenFilesLimit()),
  ...database.checks,
  ...(await checkPorts(config)),
  // The real time of this machine, not that of a drill.
  checkClock(config, Date.now(), database.nowMs),
  checkSecretKey(config),
  checkBaseUrl(config),
  checkMail(config),
  checkSpeech(config, isEspeakInstalled()),
];
