import type { Config } from "../config.ts";
import { type EmbeddedConnection, openEmbeddedServer } from "../embedded/embedded-server.ts";
import type { Lifecycle } from "../lib/lifecycle.ts";
import type { Logger } from "../lib/logger.ts";

/** The embedded database, for the one process that owns it. */
export async function openOwnDatabase(config: Config, log: Logger, lifecycle: Lifecycle): Promise<EmbeddedConnection> {
  const { dataDir, walArchiveDir: folder, walArchiveSeconds: everySeconds } = config;
  const archive = folder === undefined ? undefined : { folder, everySeconds };
  const server = await openEmbeddedServer({ dataDir, log, purpose: "service", archive });
  lifecycle.add("embedded database", () => server.release());
  return server.connection;
}
