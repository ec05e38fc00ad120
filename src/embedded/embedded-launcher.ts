/**
 * The server lives as long as somebody uses it. Every user holds a named pipe open for writing; a small shell process,
 * the launcher, reads it. However the last user goes, kill -9 included, the kernel closes its end, the launcher reads the
 * end of the file and stops the server.
 *
 * Joining races with that end. The launcher therefore closes the door first: it renames the pipe, then reads once more.
 * A user writes one line on joining and then looks whether the pipe still has its name. If the launcher gets that line in
 * its last read it opens the door again; otherwise the user sees that nobody reads any more, and starts a server anew.
 * Each start makes a pipe of its own, so a forgotten launcher can harm neither a later server nor its users.
 */
import { execFile, spawn } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { randomToken } from "../lib/ids.ts";
import { archiveVariable } from "./embedded-archive.ts";
import { serverEnvironment } from "./embedded-cluster.ts";
import { errorCode } from "./embedded-error.ts";
import { handOver } from "./embedded-handover.ts";
import type { Account, Layout } from "./embedded-layout.ts";
import { openLog } from "./embedded-log.ts";
import { pause } from "./embedded-process.ts";

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

// Runs in the folder of the pipe. Arguments: the name of the pipe, the cluster, the pid of a running server or nothing, the command that starts one.
// SIGINT is sent again and again because a server that is just being started still ignores it. The pid is trusted while
// the launcher waits for it as its child, afterwards only if the server's own file still names it.
const script = `
trap '' HUP INT TERM
hold=$1 cluster=$2 server=$3 launcher=
shift 3
exec 9<&0 </dev/null
if [ -z "$server" ]; then
  "$@" 9<&- &
  server=$! launcher=$$
fi
is_ours() {
  [ -n "$launcher" ] && kill -0 "$launcher" && return
  read -r pid <"$cluster/postmaster.pid" && [ "$pid" = "$server" ]
}
watch() {
  exec 2>/dev/null
  while :; do
    while read -r _ <&9; do :; done
    mv "$hold" "$hold.closed" || break
    read -r _ <&9 || break
    mv "$hold.closed" "$hold"
  done
  while is_ours && kill -INT "$server"; do
    exec 9<&-
    rm -f "$hold.closed"
    sleep 0.2 || sleep 1
  done
}
if [ -z "$launcher" ]; then watch; exit; fi
watch &
watcher=$!
exec 9<&-
wait "$server"
status=$?
kill -KILL "$watcher"
rm -f "$hold" "$hold.closed"
exit "$status"
`;

/** Our end of the pipe. */
export class Hold {
  readonly path: string;
  #fd: number | undefined;

  constructor(path: string, fd: number) {
    this.path = path;
    this.#fd = fd;
  }

  /** Writes a line. False: no launcher reads it. */
  isHeard(): boolean {
    if (this.#fd === undefined) return false;
    try {
      writeSync(this.#fd, "\n");
      return true;
    } catch (error) {
      return errorCode(error) === "EAGAIN";
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** closing: the launcher is stopping the server. abandoned: the launcher was killed. */
export type Joined = { kind: "held"; hold: Hold } | { kind: "closing" } | { kind: "abandoned" };

export async function joinLauncher({ run }: Layout): Promise<Joined> {
  const name = holdNames(run).find((candidate) => !candidate.endsWith(".closed"));
  if (!name) return { kind: "closing" };
  const path = join(run, name);
  const fd = openUnless(path, O_WRONLY | O_NONBLOCK);
  if (typeof fd === "string") return { kind: fd === "ENXIO" ? "abandoned" : "closing" };
  const hold = new Hold(path, fd);
  while (hold.isHeard()) {
    if (existsSync(path)) return { kind: "held", hold };
    await pause(5);
  }
  hold.close();
  return { kind: existsSync(path) ? "abandoned" : "closing" };
}

/** Ends our hold. True: nobody else holds the server, so the launcher stops it. The caller has the start lock. */
export function leaveLauncher(hold: Hold): boolean {
  hold.close();
  const fd = openUnless(hold.path, O_RDONLY | O_NONBLOCK);
  if (typeof fd === "string") return true;
  try {
    const buffer = Buffer.alloc(64);
    while (readSync(fd, buffer) > 0);
    return true;
  } catch (error) {
    if (errorCode(error) === "EAGAIN") return false;
    throw error;
  } finally {
    closeSync(fd);
  }
}

export interface Launch {
  hold: Hold;
  /** Settles when the launcher ends, which it does when the server ends. */
  ended: Promise<void>;
}

/** A server that is to be started. The command gets the folders under the names that they have for the server. */
export interface ServerStart {
  socketDir: string | undefined;
  /** Where its WAL goes to, or comes from. */
  walFolder: string | undefined;
  command(paths: { cluster: string; sockets: string }): string[];
}

/** Starts a launcher, for a server to start or for one that runs (its pid). The caller has the start lock. */
export async function startLauncher(layout: Layout, target: ServerStart | number): Promise<Launch> {
  for (const name of holdNames(layout.run)) rmSync(join(layout.run, name), { force: true });
  const name = `hold-${Date.now().toString(36)}${randomToken(3)}`;
  const path = join(layout.run, name);
  // A child changes into its folder before it changes its user: the name alone leads past closed parents.
  await promisify(execFile)("mkfifo", ["-m", "600", name], { ...layout.account, cwd: layout.run });
  const start = typeof target === "number" ? undefined : target;
  const wal = start?.walFolder;
  const isHanded = wal !== undefined && belongsTo(layout.account, wal);
  const handed = handOver(layout, {
    cluster: layout.cluster,
    sockets: start?.socketDir ?? layout.run,
    wal: isHanded ? wal : layout.run,
  });
  // A folder that is missing now, as of a disk that is not mounted, keeps its name and may come back.
  const walPath = isHanded ? handed.paths.wal : wal;
  // Both ends are open before the launcher exists: should we be killed at any moment from here, it reads the end of the file.
  // The first reader only keeps the other two from blocking.
  const opener = openSync(path, O_RDONLY | O_NONBLOCK);
  const hold = new Hold(path, openSync(path, O_WRONLY | O_NONBLOCK));
  const reader = openSync(path, O_RDONLY);
  closeSync(opener);
  const log = openLog(layout);
  const server = start ? start.command(handed.paths) : [];
  const args = [name, handed.paths.cluster, start ? "" : String(target), ...server];
  const child = spawn("/bin/sh", ["-c", script, "vigil-postgres", ...args], {
    ...layout.account,
    cwd: layout.run,
    // Its own session: Ctrl-C in the terminal reaches us, not the server that we still need in order to stop cleanly.
    detached: true,
    stdio: [reader, log, log, ...handed.descriptors],
    env: { ...serverEnvironment(), ...(walPath === undefined ? {} : { [archiveVariable]: walPath }) },
  });
  handed.close();
  const ended = new Promise<void>((done) => child.once("exit", () => done()).once("error", () => done()));
  child.unref();
  closeSync(reader);
  closeSync(log);
  return { hold, ended };
}

function belongsTo(account: Account | undefined, folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return account !== undefined && stat?.isDirectory() === true && stat.uid === account.uid;
}

const holdNames = (run: string): string[] => readdirSync(run).filter((name) => name.startsWith("hold-"));

function openUnless(path: string, flags: number): number | "ENXIO" | "ENOENT" {
  try {
    return openSync(path, flags);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENXIO" || code === "ENOENT") return code;
    throw error;
  }
}
