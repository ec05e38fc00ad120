import { createHash } from "node:crypto";
import { lchownSync, lstatSync, mkdirSync, rmdirSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import type { Logger } from "../lib/logger.ts";
import { BootFailure, EmbeddedServerError, errorCode } from "./embedded-error.ts";
import { type Hold, startLauncher } from "./embedded-launcher.ts";
import type { Layout } from "./embedded-layout.ts";
import { logSize, readLogSince } from "./embedded-log.ts";
import { clearStaleFiles, findPostmaster, type Postmaster } from "./embedded-postmaster.ts";
import { pause } from "./embedded-process.ts";
import type { PgBinaries } from "./pg-binaries.ts";

export type Transport = { kind: "socket"; folder: string } | { kind: "tcp"; port: number | undefined };

export type ServerSettings = Readonly<Record<string, string | number>>;

export interface BootOptions {
  settings: ServerSettings;
  /** Where its WAL goes to, or comes from. */
  walFolder: string | undefined;
}

/** The address of a Unix socket holds 104 bytes on macOS and 108 on Linux. */
const fitsSocket = (folder: string): boolean => Buffer.byteLength(join(folder, ".s.PGSQL.5432")) <= 100;

export function chooseTransport(layout: Layout, wanted: "auto" | "tcp"): Transport {
  if (wanted === "tcp") return { kind: "tcp", port: undefined };
  if (fitsSocket(layout.run)) return { kind: "socket", folder: layout.run };
  const folder = shortSocketFolder(layout);
  return fitsSocket(folder) ? { kind: "socket", folder } : { kind: "tcp", port: undefined };
}

const shortSocketFolder = ({ root }: Layout): string =>
  join(tmpdir(), `vigil-${createHash("sha256").update(root).digest("hex").slice(0, 12)}`);

/** A socket folder outside of the data folder goes with its server, which has removed the socket itself. */
export function removeSocketFolder(layout: Layout, { socketDir }: Postmaster): void {
  if (socketDir !== shortSocketFolder(layout)) return;
  try {
    rmdirSync(socketDir);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" && errorCode(error) !== "ENOTEMPTY") throw error;
  }
}

/** Starts the server and waits until it takes connections. The caller has the start lock and knows that none runs. */
export async function bootServer(
  layout: Layout,
  binaries: PgBinaries,
  transport: Transport,
  log: Logger,
  { settings, walFolder }: BootOptions,
): Promise<{ hold: Hold; postmaster: Postmaster }> {
  const retryUntil = Date.now() + 15_000;
  const socketDir = transport.kind === "socket" ? ownSocketFolder(layout, transport.folder) : undefined;
  for (;;) {
    clearStaleFiles(layout, socketDir);
    const before = logSize(layout.log);
    const port = transport.kind === "socket" ? 5432 : (transport.port ?? (await freePort()));
    const launch = await startLauncher(layout, {
      socketDir,
      walFolder,
      command: ({ cluster, sockets }) => [
        binaries.postgres,
        "-D",
        cluster,
        ...flags({
          port,
          listen_addresses: socketDir === undefined ? "127.0.0.1" : "",
          unix_socket_directories: socketDir === undefined ? "" : sockets,
          "vigil.cluster": layout.cluster,
          "vigil.sockets": socketDir ?? "",
          ...settings,
        }),
      ],
    });
    const postmaster = await untilReady(layout, launch.ended, log);
    if (postmaster) return { hold: launch.hold, postmaster };
    launch.hold.close();
    const output = readLogSince(layout.log, Math.min(before, logSize(layout.log)));
    if (!isPassing(output, transport) || Date.now() > retryUntil) throw explainBoot(output, layout);
    await pause(100);
  }
}

/** Waits for a server that is starting. Undefined: it ended, or is stopping. Crash recovery may take minutes. */
export async function untilReady(
  layout: Layout,
  ended: Promise<void> | undefined,
  log: Logger,
): Promise<Postmaster | undefined> {
  let hasEnded = false;
  void ended?.then(() => {
    hasEnded = true;
  });
  let logAt = Date.now() + 5000;
  for (;;) {
    const postmaster = findPostmaster(layout);
    if (postmaster?.status === "ready") return postmaster;
    if (postmaster?.status === "stopping" || hasEnded || (!postmaster && !ended)) return undefined;
    if (Date.now() > logAt) {
      logAt = Date.now() + 10_000;
      log.info(`the database is still starting, perhaps recovering from a crash; see ${layout.log}`);
    }
    await pause(5);
  }
}

function ownSocketFolder({ run, account }: Layout, folder: string): string {
  if (folder === run) return folder;
  const uid = account?.uid ?? process.getuid?.();
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) && account) lchownSync(folder, account.uid, account.gid);
  const stat = lstatSync(folder);
  // Anybody can put something under this name into a shared folder before us.
  if (!stat.isDirectory() || stat.uid !== uid || (stat.mode & 0o077) !== 0) {
    throw new EmbeddedServerError(`${folder} is not a private folder of uid ${uid}; remove it and start again`);
  }
  return folder;
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer().once("error", fail);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => done(typeof address === "object" && address ? address.port : 0));
    });
  });
}

function flags(special: ServerSettings): string[] {
  const settings = {
    unix_socket_permissions: "0700",
    // Of sixteen processes; a connection that nobody opens costs nothing.
    max_connections: 400,
    shared_buffers: totalmem() < 4 * 1024 ** 3 ? "128MB" : "256MB",
    work_mem: "8MB",
    wal_buffers: "16MB",
    // All commits wait while a new segment is filled with zeros: 20 to 50 ms for each 16 MB (measured), until a checkpoint leaves
    // segments that are used again. With holes a commit of these first ones writes a little more.
    wal_init_zero: "off",
    min_wal_size: "512MB",
    max_wal_size: "4GB",
    checkpoint_timeout: "15min",
    random_page_cost: 1.1,
    jit: "off",
    fsync: "on",
    synchronous_commit: "on",
    logging_collector: "off",
    log_destination: "stderr",
    cluster_name: "vigil",
    ...special,
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/** What is over in a moment: backends of a killed server, a server whose starter was killed, a port that was taken just now. */
function isPassing(output: string, transport: Transport): boolean {
  if (/shared memory block .* still in use|lock file ".*" already exists/.test(output)) return true;
  return transport.kind === "tcp" && /could not bind|could not create any TCP\/IP sockets/.test(output);
}

function explainBoot(output: string, layout: Layout): EmbeddedServerError {
  if (/No space left on device|Disk quota exceeded/.test(output)) {
    return new BootFailure(`the disk of ${layout.dataDir} is full; free some space and start again`, output);
  }
  const reason = /(?:FATAL|PANIC): +(.*)/.exec(output)?.[1] ?? output.trim().split("\n").at(-1) ?? "";
  return new BootFailure(
    `the database in ${layout.cluster} did not start: ${reason}; see ${layout.log}, and restore a backup if the cluster is damaged`,
    output,
  );
}
