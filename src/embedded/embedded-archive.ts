/**
 * Continuous archiving of the WAL of a cluster to a folder. PostgreSQL runs the commands below through a shell, so they are
 * constant texts: the folder comes in the environment, and %p and %f are names that PostgreSQL makes itself.
 *
 * Where a cluster archives to is noted inside the cluster: whoever starts its server goes on with it, a command of an operator
 * whose shell lacks the setting too, and no WAL is lost between. A backup leaves the note out: a restored cluster is another line
 * of history and gets an id, and with it a folder, of its own, so that two lines never write the same names.
 */
import { existsSync, lchownSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { newUuid } from "../lib/ids.ts";
import type { Logger } from "../lib/logger.ts";
import type { ServerSettings } from "./embedded-boot.ts";
import { EmbeddedServerError } from "./embedded-error.ts";
import { allows, findBlockedFolder, type Layout } from "./embedded-layout.ts";
import { writeDurably } from "./embedded-replacement.ts";

/** What a service wants. */
export interface ArchiveWish {
  folder: string;
  /** A file of WAL that has something in it is archived after this time although it is not full. */
  everySeconds: number;
}

export interface WalArchive extends ArchiveWish {
  /** Names this line of history; the files are in the folder of this name. */
  id: string;
}

/** Left out of backups by its name. */
const noteFile = "vigil-archive.json";

export const archiveFolderOf = ({ folder, id }: WalArchive): string => join(folder, id);

export function findWalArchive({ cluster }: Pick<Layout, "cluster">): WalArchive | undefined {
  const file = join(cluster, noteFile);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as WalArchive) : undefined;
}

/** The caller has the start lock, and no server runs. `wish`: of a service; a command goes on with what is noted. */
export async function settleArchive(
  layout: Layout,
  wish: ArchiveWish | "off" | "as noted",
  log: Logger,
): Promise<WalArchive | undefined> {
  const noted = findWalArchive(layout);
  if (wish === "as noted") return noted;
  if (wish === "off") {
    if (!noted) return undefined;
    rmSync(join(layout.cluster, noteFile));
    log.warn({ folder: archiveFolderOf(noted) }, "the WAL is no longer archived: the setting is gone");
    return undefined;
  }
  const archive = { id: noted?.id ?? newUuid(), ...wish };
  if (noted?.folder === wish.folder) warnIfMissing(archive, log);
  else makeFolder(archive, layout);
  await writeDurably(layout, join(layout.cluster, noteFile), JSON.stringify(archive));
  return archive;
}

/** Not made again: a disk that is not mounted would be filled below its mount point, and the files be hidden later. */
function warnIfMissing(archive: WalArchive, log: Logger): void {
  const folder = archiveFolderOf(archive);
  if (!existsSync(folder)) {
    log.error(
      { folder },
      "the folder of the WAL archive is missing: mount its disk, or make it again; WAL waits for it",
    );
    return;
  }
  // What an archiver left that was killed.
  for (const name of readdirSync(folder)) if (name.startsWith(".")) rmSync(join(folder, name), { force: true });
}

function makeFolder(archive: WalArchive, { account }: Layout): void {
  if (!statSync(archive.folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new EmbeddedServerError(
      `the folder ${archive.folder} of VIGIL_WAL_ARCHIVE_DIR does not exist; make it first`,
    );
  }
  const folder = archiveFolderOf(archive);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (account) lchownSync(folder, account.uid, account.gid);
  } catch (error) {
    throw new EmbeddedServerError(`${archive.folder} of VIGIL_WAL_ARCHIVE_DIR cannot be written; change its owner`, {
      cause: error,
    });
  }
}

/** Names the folder for both commands, as the server reaches it. */
export const archiveVariable = "VIGIL_WAL_ARCHIVE";

// Beside its place, onto the disk, then given its name. What is there already is kept: the same content is a file whose archiving was
// not noted before a crash, another content belongs to somebody else and is never overwritten.
const archiveCommand = [
  `d="\${${archiveVariable}:?}"; f="$d/%f.gz"; t="$d/.%f.$$"`,
  'if [ -e "$f" ]; then gzip -dc < "$f" | cmp -s - "%p" && sync "$d"; exit; fi',
  // A link is made only where nothing is; where there are no links, a careful rename has to do.
  'gzip -c < "%p" > "$t" && sync "$t" && { ln "$t" "$f" 2> /dev/null && rm "$t" || mv -n "$t" "$f"; }',
  'if [ -e "$t" ]; then rm -f "$t"; exit 1; fi; [ -e "$f" ] && sync "$d"',
].join("; ");

export const archiveSettings = (archive: WalArchive | undefined): ServerSettings =>
  archive
    ? {
        archive_mode: "on",
        archive_command: archiveCommand,
        archive_timeout: archive.everySeconds,
        "vigil.archive": archiveFolderOf(archive),
      }
    : {};

/** A restored cluster that goes on with archived WAL, up to a moment or to the end of it, as a timeline of its own. */
export interface Recovery {
  walFolder: string;
  until: Date | undefined;
}

// A file that is there and cannot be read ends recovery for good (above 125): it must not look like the end of the WAL.
const restoreCommand = `f="\${${archiveVariable}:?}/%f.gz"; [ -e "$f" ] || exit 1; gzip -dc < "$f" > "%p" || exit 130`;

/** A folder that the server cannot read would look to it like the end of the WAL. */
export function requireReadable({ account }: Layout, { walFolder }: Recovery): void {
  if (!account) return;
  const stat = statSync(walFolder);
  if (stat.uid === account.uid) return;
  if (findBlockedFolder(walFolder, account) === undefined && allows(stat, account, 0o5)) return;
  throw new EmbeddedServerError(
    `PostgreSQL runs as uid ${account.uid} and cannot read ${walFolder}; run "chown -R ${account.uid} ${walFolder}"`,
  );
}

export const recoverySettings = ({ until }: Recovery): ServerSettings => ({
  restore_command: restoreCommand,
  recovery_target_timeline: "current",
  recovery_target_action: "promote",
  hot_standby: "off",
  // The server reads it before it knows the names of time zones, "Z" included.
  ...(until ? { recovery_target_time: until.toISOString().replace("T", " ").replace("Z", "+00") } : {}),
});
