import type { ClientConfig } from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { type CitusCluster, openCitusCluster } from "../support/citus-cluster.ts";
import { embeddedUrl } from "../support/embedded-client.ts";
import { tempFolder } from "../support/vigil-process.ts";

/** The database of a fault run: an embedded server, or a cluster of Citus whose nodes can be killed. */
export interface FaultDatabase {
  url: string;
  connection: ClientConfig;
  /** Undefined: the database is not distributed. */
  nodes: CitusCluster | undefined;
  close(): Promise<void>;
}

export async function openFaultDatabase(citusBin: string | undefined): Promise<FaultDatabase> {
  if (citusBin !== undefined) {
    const nodes = await openCitusCluster(citusBin);
    return { url: nodes.url, connection: { connectionString: nodes.url }, nodes, close: nodes.close };
  }
  const folder = await tempFolder();
  const server = await openEmbeddedServer({ dataDir: folder.path, log: makeLogger("silent"), purpose: "command" });
  return {
    url: embeddedUrl(server.connection),
    connection: server.connection,
    nodes: undefined,
    close: async () => {
      await server.release();
      await folder.remove();
    },
  };
}
