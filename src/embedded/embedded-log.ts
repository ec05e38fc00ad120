import {
  closeSync,
  constants,
  copyFileSync,
  fchownSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  rmSync,
} from "node:fs";
import type { Layout } from "./embedded-layout.ts";

// Root must not be led elsewhere by a link that the server's user has put in the place of the log.
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

const maxLogBytes = 10 * 1024 * 1024;

/** Opens the server's log for appending, which lets it be emptied while the server writes. */
export function openLog(layout: Layout): number {
  boundLog(layout);
  const fd = openSync(layout.log, appending, 0o600);
  if (layout.account) fchownSync(fd, layout.account.uid, layout.account.gid);
  return fd;
}

/** Keeps at most two pieces of 10 MB. */
export function boundLog({ log }: Layout): void {
  if (logSize(log) <= maxLogBytes) return;
  const fd = openSync(log, appending);
  try {
    rmSync(`${log}.1`, { force: true });
    copyFileSync(log, `${log}.1`, constants.COPYFILE_EXCL);
    ftruncateSync(fd);
  } finally {
    closeSync(fd);
  }
}

export const logSize = (log: string): number => lstatSync(log, { throwIfNoEntry: false })?.size ?? 0;

/** What the server has written since the log had this size, the newest 64 KB at most. */
export function readLogSince(log: string, size: number): string {
  const fd = openSync(log, "r");
  try {
    const buffer = Buffer.alloc(64 * 1024);
    const end = logSize(log);
    const from = Math.max(Math.min(size, end), end - buffer.length);
    return buffer.toString("utf8", 0, readSync(fd, buffer, 0, buffer.length, from));
  } finally {
    closeSync(fd);
  }
}
