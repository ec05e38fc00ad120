/**
 * One process at a time may start, join or leave the server of a data folder.
 *
 * The lock is the file lock-N with the highest N. Its holder is the process named in it; a dead holder, or an empty
 * file, means it is free. To take it, link lock-(N+1), which only one can do. The highest file is never removed, so a
 * process that looked long ago and links a number that has been used and cleared sees a higher one and backs off.
 * Breaking a stale lock by removing it could not be made safe: two breakers, and the second removes the lock of the first.
 */
import {
  closeSync,
  constants,
  lchownSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { randomToken } from "../lib/ids.ts";
import type { Logger } from "../lib/logger.ts";
import { errorCode } from "./embedded-error.ts";
import type { Layout } from "./embedded-layout.ts";
import { pause, processBirth } from "./embedded-process.ts";

export async function withStartLock<T>(layout: Layout, log: Logger, work: () => Promise<T>): Promise<T> {
  const held = await takeLock(layout, log);
  try {
    return await work();
  } finally {
    closeSync(openSync(held, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW));
  }
}

async function takeLock({ run, account }: Layout, log: Logger): Promise<string> {
  const draft = join(run, `draft-${process.pid}-${randomToken(6)}`);
  writeFileSync(draft, `${process.pid} ${processBirth(process.pid)}`, { mode: 0o600, flag: "wx" });
  if (account) lchownSync(draft, account.uid, account.gid);
  try {
    const logAt = Date.now() + 5000;
    let hasLogged = false;
    for (;;) {
      const top = topNumber(run);
      const holder = liveHolder(join(run, `lock-${top}`));
      if (holder === undefined) {
        const mine = join(run, `lock-${top + 1}`);
        if (linkUnlessTaken(draft, mine)) {
          if (topNumber(run) === top + 1) {
            for (const number of lockNumbers(run))
              if (number <= top) rmSync(join(run, `lock-${number}`), { force: true });
            return mine;
          }
          rmSync(mine, { force: true });
        }
        continue;
      }
      if (!hasLogged && Date.now() > logAt) {
        hasLogged = true;
        log.info(`waiting for pid ${holder}, which is starting or stopping the database`);
      }
      await pause(10);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

function lockNumbers(run: string): number[] {
  return readdirSync(run).flatMap((name) => (/^lock-\d+$/.test(name) ? [Number(name.slice(5))] : []));
}

const topNumber = (run: string): number => Math.max(0, ...lockNumbers(run));

function liveHolder(file: string): string | undefined {
  try {
    const [pid, birth] = splitOnce(readFileSync(file, "utf8"));
    return pid !== "" && processBirth(Number(pid)) === birth ? pid : undefined;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function splitOnce(text: string): [string, string] {
  const space = text.indexOf(" ");
  return [text.slice(0, Math.max(0, space)), text.slice(space + 1)];
}

function linkUnlessTaken(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}
