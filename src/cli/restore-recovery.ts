import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Manifest } from "../backup/manifest.ts";
import { findArchiveFolder, followWal, listArchive } from "../backup/wal-archive.ts";
import type { Recovery } from "../embedded/embedded-archive.ts";
import { BootFailure } from "../embedded/embedded-error.ts";
import { type Arguments, CommandError, UsageError } from "./command.ts";

/** What the command line asks for, checked as far as it can be without the backup. Undefined: the backup alone. */
export interface RecoveryWish {
  wal: string;
  until: Date | undefined;
}

const zonedTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

export function readRecoveryWish(args: Arguments, nowMs: number): RecoveryWish | undefined {
  const wal = args.value("wal");
  const text = args.value("until");
  if (text !== undefined && wal === undefined) throw new UsageError("--until needs --wal DIR, the archived WAL");
  if (wal === undefined) return undefined;
  if (text === undefined) return { wal: resolve(wal), until: undefined };
  const timeMs = Date.parse(text);
  if (!zonedTime.test(text) || Number.isNaN(timeMs)) {
    throw new UsageError(`--until must be a time with its zone, like 2026-11-18T14:05:00Z, not "${text}"`);
  }
  if (timeMs > nowMs) throw new CommandError(`--until ${text} is in the future`);
  return { wal: resolve(wal), until: new Date(timeMs) };
}

interface Plan extends Recovery {
  /** The first WAL file that is missing although later ones are there. */
  missing: string | undefined;
}

/** Finds the WAL that follows the backup, and refuses before anything is changed what cannot succeed. */
export function planRecovery({ wal, until }: RecoveryWish, manifest: Manifest): Plan {
  if (until && until.getTime() < Date.parse(manifest.finished_at)) {
    throw new CommandError(
      `--until ${until.toISOString()} is before the end of this backup (${manifest.finished_at}): use an older backup`,
    );
  }
  if (!existsSync(wal)) throw new CommandError(`there is no folder ${wal}`);
  const walFolder = findArchiveFolder(wal, manifest.wal_archive);
  if (walFolder === undefined) {
    const name = manifest.wal_archive ?? "none: VIGIL_WAL_ARCHIVE_DIR was not set when it was made";
    throw new CommandError(`${wal} has no WAL for this backup (its folder there: ${name})`);
  }
  const { last, missing } = followWal(listArchive(walFolder), manifest.timeline ?? "00000001", manifest.stop_lsn);
  if (missing !== undefined && (until === undefined || last === undefined)) throw gap(walFolder, missing);
  return { walFolder, until, missing };
}

const gap = (folder: string, missing: string): CommandError =>
  new CommandError(
    `the WAL in ${folder} has a gap: ${missing}.gz is missing; use a newer backup, or --until a time before the gap`,
  );

/** Says why PostgreSQL did not come to the end of what was asked for. Other errors come back as they are. */
export function explainRecovery(error: unknown, { walFolder, until, missing }: Plan): unknown {
  if (!(error instanceof BootFailure)) return error;
  const { output } = error;
  const [, damaged] = /could not restore file "([^"]+)" from archive/.exec(output) ?? [];
  if (damaged !== undefined) {
    return new CommandError(
      `${damaged}.gz in ${walFolder} is damaged or cannot be read: give it back from another copy, or --until an earlier time`,
      { cause: error },
    );
  }
  if (output.includes("recovery ended before configured recovery target was reached")) {
    if (missing !== undefined) return gap(walFolder, missing);
    const [, end] = [...output.matchAll(/last completed transaction was at log time (\S+ \S+)/g)].at(-1) ?? [];
    return new CommandError(
      `the WAL in ${walFolder} ends before --until ${until?.toISOString()}; its last change is of ${end ?? "the backup itself"}: give that time, or leave --until out`,
      { cause: error },
    );
  }
  if (output.includes("before consistent recovery point")) {
    return new CommandError(`--until ${until?.toISOString()} is before the end of this backup: use an older backup`, {
      cause: error,
    });
  }
  return error;
}
