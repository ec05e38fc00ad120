/**
 * The PostgreSQL server that Vigil brings along. It belongs to the data folder, not to a process: the first user starts it,
 * others join, the last one to leave stops it, and a kill -9 of any of them leaves neither an orphan nor a lock behind.
 */
import { resolve } from "node:path";
import { repeat } from "../lib/lifecycle.ts";
import type { Logger } from "../lib/logger.ts";
import type { ArchiveWish, Recovery } from "./embedded-archive.ts";
import { type Attachment, attachServer } from "./embedded-attach.ts";
import { chooseTransport, removeSocketFolder, type ServerSettings, type Transport } from "./embedded-boot.ts";
import { type Claim, claimService } from "./embedded-claim.ts";
import { explainFileError } from "./embedded-error.ts";
import { type Hold, leaveLauncher, startLauncher } from "./embedded-launcher.ts";
import { type Layout, prepareLayout } from "./embedded-layout.ts";
import { withStartLock } from "./embedded-lock.ts";
import { boundLog } from "./embedded-log.ts";
import { type EmbeddedConnection, findPostmaster, untilStopped } from "./embedded-postmaster.ts";

export { EmbeddedServerError } from "./embedded-error.ts";
export type { EmbeddedConnection } from "./embedded-postmaster.ts";

export interface EmbeddedServer {
  readonly connection: EmbeddedConnection;
  /** Gives up our hold. If we were the last user the server shuts down (fast) and this waits until it has stopped. */
  release(): Promise<void>;
}

export interface EmbeddedOptions {
  dataDir: string;
  log: Logger;
  /** A service is the only one on its data folder and keeps the server alive. A command only uses it. */
  purpose: "service" | "command";
  transport?: "auto" | "tcp";
  /** Settings of PostgreSQL that win over ours, if a command has to start the server. A test server gives up durability. */
  settings?: ServerSettings;
  /** Where a service archives the WAL to; undefined: nowhere. */
  archive?: ArchiveWish | undefined;
  /** A command may go on with archived WAL before anybody connects. */
  recovery?: Recovery | undefined;
}

export async function openEmbeddedServer(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { dataDir, log, purpose, transport = "auto", settings, archive, recovery } = options;
  try {
    const layout = prepareLayout(dataDir);
    const first = chooseTransport(layout, transport);
    if (purpose === "service") return await openService(layout, first, log, archive ?? "off");
    const start = { settings, recovery };
    const { connection, hold } = await withStartLock(layout, log, () => attachServer(layout, first, log, start));
    let released: Promise<void> | undefined;
    return {
      connection,
      release: () => {
        released ??= leave(layout, hold, log);
        return released;
      },
    };
  } catch (error) {
    throw explainFileError(error, resolve(dataDir));
  }
}

async function openService(
  layout: Layout,
  transport: Transport,
  log: Logger,
  archive: ArchiveWish | "off",
): Promise<EmbeddedServer> {
  const service = new EmbeddedService(layout, transport, log, archive);
  const connection = await service.open();
  return { connection, release: () => service.release() };
}

const checkEveryMs = 500;
const maxPauseMs = 10_000;

class EmbeddedService {
  readonly #layout: Layout;
  readonly #log: Logger;
  readonly #archive: ArchiveWish | "off";
  #transport: Transport;
  #hold: Hold | undefined;
  #claim: Claim | undefined;
  #stopChecks: (() => Promise<void>) | undefined;
  #failures = 0;
  #pausedUntilMs = 0;
  #released: Promise<void> | undefined;

  constructor(layout: Layout, transport: Transport, log: Logger, archive: ArchiveWish | "off") {
    this.#layout = layout;
    this.#transport = transport;
    this.#log = log;
    this.#archive = archive;
  }

  async open(): Promise<EmbeddedConnection> {
    try {
      const connection = await this.#attach();
      // After a crash the server must come back under the address that its users know.
      const isSocket = connection.host.startsWith("/");
      this.#transport = isSocket ? { kind: "socket", folder: connection.host } : { kind: "tcp", port: connection.port };
      this.#stopChecks = repeat("embedded database", checkEveryMs, this.#log, () => this.#check());
      return connection;
    } catch (error) {
      await this.#claim?.release();
      await leave(this.#layout, this.#hold, this.#log);
      throw error;
    }
  }

  release(): Promise<void> {
    this.#released ??= this.#close();
    return this.#released;
  }

  async #close(): Promise<void> {
    await this.#stopChecks?.();
    try {
      // Without a launcher nothing would stop the server.
      if (!this.#hold?.isHeard() && findPostmaster(this.#layout)) await this.#attach();
    } catch (error) {
      this.#log.warn({ err: error }, "the embedded database may keep running; the next start takes it over");
    }
    await this.#claim?.release();
    await leave(this.#layout, this.#hold, this.#log);
  }

  async #check(): Promise<void> {
    boundLog(this.#layout);
    const isRunning = findPostmaster(this.#layout) !== undefined;
    if (isRunning && this.#hold?.isHeard() && this.#claim?.isHeld()) return;
    if (Date.now() < this.#pausedUntilMs) return;
    this.#log.warn(
      isRunning ? "lost the hold on the embedded database" : "the embedded database ended; starting it again",
    );
    try {
      await this.#attach();
      this.#failures = 0;
      this.#log.info("the embedded database is back");
    } catch (error) {
      const pauseMs = Math.min(maxPauseMs, 1000 * 2 ** this.#failures);
      this.#failures += 1;
      this.#pausedUntilMs = Date.now() + pauseMs;
      this.#log.error({ err: error }, `the embedded database is still down; retrying in ${pauseMs / 1000} s`);
    }
  }

  /** Makes good whatever is missing of server, launcher, hold and claim. */
  async #attach(): Promise<EmbeddedConnection> {
    const attachment = await withStartLock(this.#layout, this.#log, () => this.#attachLocked());
    if (!this.#claim?.isHeld()) this.#claim = await claimService(attachment.connection, this.#layout.dataDir);
    return attachment.connection;
  }

  async #attachLocked(): Promise<Attachment> {
    const previous = this.#hold;
    const attachment = await attachServer(this.#layout, this.#transport, this.#log, { archive: this.#archive });
    if (!attachment.hold) {
      // Whoever else uses this server has no launcher either. Only the one service may give it a new one: a second
      // service that did, and then left because it is refused, would stop the server of the first.
      if (!this.#claim?.isHeld()) this.#claim = await claimService(attachment.connection, this.#layout.dataDir);
      attachment.hold = (await startLauncher(this.#layout, attachment.postmaster.pid)).hold;
    }
    this.#hold = attachment.hold;
    // Only now: closing the last hold of a server that still runs would stop it.
    previous?.close();
    return attachment;
  }
}

async function leave(layout: Layout, hold: Hold | undefined, log: Logger): Promise<void> {
  if (!hold) return;
  try {
    await withStartLock(layout, log, async () => {
      // A launcher that has ended took its server with it; what runs now belongs to others.
      const postmaster = hold.isHeard() ? findPostmaster(layout) : undefined;
      const wasLast = leaveLauncher(hold);
      if (!postmaster || !wasLast) return;
      await untilStopped(layout, postmaster, 30_000);
      removeSocketFolder(layout, postmaster);
    });
  } finally {
    hold.close();
  }
}
