import { chownSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { unpackBackup } from "../backup/archive-reader.ts";
import type { Manifest } from "../backup/manifest.ts";
import type { Config } from "../config.ts";
import { openDatabase } from "../db/database.ts";
import { migrate } from "../db/migrate.ts";
import { dataInTheWay, findClusterData, restoreEmbedded } from "../embedded/embedded-restore.ts";
import type { EmbeddedConnection } from "../embedded/embedded-server.ts";
import type { SecretBox } from "../lib/secret-box.ts";
import { noteBackup } from "../roles/last-backup.ts";
import {
  type AccessReview,
  countRevivedAccess,
  type RevivedAccess,
  reviewRevivedAccess,
  revokeSessions,
} from "../roles/restored-access.ts";
import { acceptKey, type LostSecrets } from "../roles/restored-secrets.ts";
import { openSecretBox, readSecretKey, secretKeyFile } from "../roles/secret-key.ts";
import { checkedBackup, requireEmbedded } from "./backup-commands.ts";
import type { Command, CommandContext } from "./command.ts";
import { record, showValue, table } from "./output.ts";
import { makeProgress } from "./progress.ts";
import { explainRecovery, planRecovery, readRecoveryWish } from "./restore-recovery.ts";

/** What is done to the restored database before it takes its place. */
async function settle(context: CommandContext, connection: EmbeddedConnection, file: string, manifest: Manifest) {
  const { args, clock, config, log } = context;
  const db = openDatabase({ connection, log, poolSize: 2, laneSize: 1 });
  try {
    // Of the last change that archived WAL has brought; without any it is null.
    const replay = await db.one<{ at: Date | null }>`select pg_last_xact_replay_timestamp() as at`;
    await migrate(db, clock);
    const secrets = openKey(config);
    const now = clock.now();
    return await db.transaction(async (tx) => {
      const lost = await acceptKey(tx, secrets, now);
      const revived = await countRevivedAccess(tx, now);
      const review = await reviewRevivedAccess(tx, now);
      if (args.has("revoke-sessions")) await revokeSessions(tx);
      await noteBackup(tx, { at: new Date(manifest.started_at), file }, now);
      return { lost, revived, review, fingerprint: secrets.fingerprint, lastChangeAt: replay.at };
    });
  } finally {
    await db.close();
  }
}

/** A key that root makes belongs to whoever the data folder belongs to, as the service must read it. */
function openKey(config: Config): SecretBox {
  const box = openSecretBox(config);
  const { path, isOwn } = secretKeyFile(config);
  if (!isOwn && process.getuid?.() === 0) {
    const { uid, gid } = statSync(config.dataDir);
    chownSync(path, uid, gid);
  }
  return box;
}

const hasLost = ({ webhook_secrets, second_factors, session_key }: LostSecrets): boolean =>
  webhook_secrets.length > 0 || second_factors.length > 0 || session_key;

function describeLost({ webhook_secrets, second_factors, session_key }: LostSecrets): string[] {
  return [
    ...webhook_secrets.map(
      ({ integration_id, name, org }) =>
        `  vigil integration rotate-webhook-secret ${integration_id}    (${name} of ${org}; give the partner the new one)`,
    ),
    ...second_factors.map((email) => `  ${email} signs in with a recovery code and sets up the second factor again`),
    ...(session_key ? ["  everybody signs in to the console again"] : []),
  ];
}

function describeRevived(revived: RevivedAccess, areRevoked: boolean): string {
  const advice = areRevoked
    ? "Sessions, tokens and password links were ended."
    : "Some of these may have been ended since the backup; --revoke-sessions ends sessions, tokens and password links.";
  return `Valid again as they were at that time:\n${record({ ...revived })}\n${advice}`;
}

/** People see the newest of each kind; --json has more. */
const maxShown = 20;

function describeReview({ people, invitations, client_secrets }: AccessReview): string {
  const rows = [
    ...people.slice(0, maxShown).map((one) => [one.role, one.email, one.org, one.since]),
    ...invitations.slice(0, maxShown).map((one) => ["invitation", one.email, one.org, one.expires_at]),
    ...client_secrets.slice(0, maxShown).map((one) => ["client secret", one.name, one.org, one.made_at]),
  ];
  if (rows.length === 0) return "";
  const text = table(
    ["what", "who", "org", "since or until"],
    rows.map((row) => row.map(showValue)),
  );
  return `\n\nEnd or rotate what was ended since (--json lists up to 500 of each kind):\n${text}`;
}

const restore: Command = {
  path: ["restore"],
  summary: "Restore a backup of the embedded database",
  positionals: [{ name: "FILE", summary: "a file that vigil backup has written" }],
  options: [
    { name: "wal", value: "DIR", summary: "go on with the WAL archived there (VIGIL_WAL_ARCHIVE_DIR), to its end" },
    { name: "until", value: "TIME", summary: "with --wal: only up to this moment, like 2026-11-18T14:05:00Z" },
    { name: "force", summary: "restore also where there is a database; that one is moved aside" },
    { name: "revoke-sessions", summary: "end all sessions, tokens and password links of the time of the backup" },
  ],
  examples: [
    "vigil restore /backups/vigil-2026-11-18.tar.gz --data-dir /var/lib/vigil-restored",
    "vigil restore /backups/vigil-2026-11-18.tar.gz --data-dir /var/lib/vigil --force --revoke-sessions --json",
    "vigil restore /backups/vigil-2026-11-18.tar.gz --data-dir /var/lib/vigil-restored --wal /backups/wal --until 2026-11-18T14:05:00Z",
  ],
  next: ["vigil doctor", "vigil start"],
  run: async (context) => {
    const { args, config, log } = context;
    requireEmbedded(context);
    const wish = readRecoveryWish(args, Date.now());
    const file = resolve(args.positionals[0] ?? "");
    const mayReplace = args.has("force");
    if (!mayReplace && findClusterData(config.dataDir)) throw dataInTheWay(config.dataDir);
    if (config.secretKeyFile !== undefined) readSecretKey(config.secretKeyFile);
    const manifest = await checkedBackup(context, file);
    const recovery = wish && planRecovery(wish, manifest);
    const { size } = statSync(file);
    const onProgress = makeProgress(context.note, "restored");
    const { result, previous } = await restoreEmbedded({
      dataDir: config.dataDir,
      log,
      mayReplace,
      unpack: async (cluster) => void (await unpackBackup(file, cluster, (done) => onProgress(done, size))),
      recovery,
      settle: (connection) => settle(context, connection, file, manifest),
    }).catch((error: unknown) => {
      throw recovery ? explainRecovery(error, recovery) : error;
    });
    const { lost, revived, review, fingerprint, lastChangeAt } = result;
    const stateOf = recovery && lastChangeAt ? lastChangeAt.toISOString() : manifest.finished_at;
    const document = {
      data_dir: config.dataDir,
      state_of: stateOf,
      wal: recovery?.walFolder ?? null,
      secret_key: { of_backup: manifest.secret_key_fingerprint, in_use: fingerprint },
      rotate: lost,
      valid_again: revived,
      review,
      sessions_revoked: args.has("revoke-sessions"),
      previous: previous ?? null,
    };
    const keyText = hasLost(lost)
      ? `\n\nThe key ${manifest.secret_key_fingerprint} of the backup is not here, so these secrets were lost:\n${describeLost(lost).join("\n")}`
      : "";
    const previousText =
      previous === undefined ? "" : `\n\nThe earlier database is in ${previous}; remove it when you no longer need it.`;
    const text = `Restored the state of ${stateOf} into ${config.dataDir}.`;
    context.print(
      document,
      `${text}${previousText}${keyText}\n\n${describeRevived(revived, args.has("revoke-sessions"))}${describeReview(review)}`,
    );
    return 0;
  },
};

export const restoreCommands: readonly Command[] = [restore];
