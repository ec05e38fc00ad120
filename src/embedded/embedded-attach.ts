import type { Logger } from "../lib/logger.ts";
import {
  type ArchiveWish,
  archiveFolderOf,
  archiveSettings,
  type Recovery,
  recoverySettings,
  settleArchive,
} from "./embedded-archive.ts";
import { bootServer, type ServerSettings, type Transport, untilReady } from "./embedded-boot.ts";
import { ensureDatabase } from "./embedded-claim.ts";
import { prepareCluster } from "./embedded-cluster.ts";
import { EmbeddedServerError, errorCode } from "./embedded-error.ts";
import { type Hold, joinLauncher } from "./embedded-launcher.ts";
import type { Layout } from "./embedded-layout.ts";
import {
  connectionTo,
  type EmbeddedConnection,
  findPostmaster,
  type Postmaster,
  untilStopped,
} from "./embedded-postmaster.ts";
import { pause } from "./embedded-process.ts";
import { findBinariesPackage, prepareBinaries } from "./pg-binaries.ts";

export interface Attachment {
  connection: EmbeddedConnection;
  postmaster: Postmaster;
  /** Undefined: the server runs, but its launcher was killed and nothing would stop it. */
  hold: Hold | undefined;
}

/** How a server is started, if none runs. */
export interface StartOptions {
  /** Settings that win over ours. */
  settings?: ServerSettings | undefined;
  /** Of a service; a command goes on with what the cluster has noted. */
  archive?: ArchiveWish | "off" | undefined;
  recovery?: Recovery | undefined;
}

/** Joins the server that runs on the cluster, or starts it. The caller has the start lock. */
export async function attachServer(
  layout: Layout,
  transport: Transport,
  log: Logger,
  options: StartOptions = {},
): Promise<Attachment> {
  for (const giveUpAt = Date.now() + 60_000; ; await pause(10)) {
    const running = findPostmaster(layout);
    const found = running ? await joinServer(layout, running, log) : await startServer(layout, transport, log, options);
    if (!found) continue;
    const connection = connectionTo(layout, found.postmaster);
    try {
      await ensureDatabase(connection);
      return { connection, ...found };
    } catch (error) {
      found.hold?.close();
      if (!isShuttingDown(error) || Date.now() > giveUpAt) throw error;
    }
  }
}

async function startServer(layout: Layout, transport: Transport, log: Logger, options: StartOptions) {
  const { settings, archive: wish = "as noted", recovery } = options;
  const binaries = await prepareBinaries(findBinariesPackage(), layout.root, layout.account);
  await prepareCluster(layout, binaries, log);
  const archive = await settleArchive(layout, wish, log);
  const walFolder = recovery?.walFolder ?? (archive && archiveFolderOf(archive));
  const own = recovery ? recoverySettings(recovery) : archiveSettings(archive);
  return bootServer(layout, binaries, transport, log, { settings: { ...own, ...settings }, walFolder });
}

/** Undefined: the server has stopped in the meantime. */
async function joinServer(layout: Layout, running: Postmaster, log: Logger) {
  const joined = await joinLauncher(layout);
  if (joined.kind === "closing" || running.status === "stopping") {
    if (joined.kind === "held") joined.hold.close();
    // A launcher that was killed between closing the door and sending the signal leaves a server that nobody stops.
    if (await untilStopped(layout, running, 5000)) return undefined;
  }
  const postmaster = await untilReady(layout, undefined, log);
  const hold = joined.kind === "held" ? joined.hold : undefined;
  if (postmaster) return { hold, postmaster };
  hold?.close();
  const left = findPostmaster(layout);
  if (left && !(await untilStopped(layout, left, 5000))) {
    throw new EmbeddedServerError(
      `the database in ${layout.cluster} (pid ${left.pid}) does not stop; see ${layout.log}`,
    );
  }
  return undefined;
}

/** 57P01..57P03: the server is stopping or starting. The others: it stopped between our look and our call. */
function isShuttingDown(error: unknown): boolean {
  const code = errorCode(error) ?? "";
  return (
    /^(57P0[123]|ENOENT|ECONNREFUSED|ECONNRESET|EPIPE)$/.test(code) || /terminated unexpectedly/.test(String(error))
  );
}
