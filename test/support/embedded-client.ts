import pg from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";

type Connection = Awaited<ReturnType<typeof openEmbeddedServer>>["connection"];

/** The address of an embedded server as `DATABASE_URL` takes it. */
export const embeddedUrl = ({ host, port, user, password, database }: Connection): string =>
  `postgresql://${user}:${encodeURIComponent(password)}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;

/** Runs statements on the embedded database of a data folder, beside the service or without it. */
export async function withEmbedded<T>(dataDir: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const server = await openEmbeddedServer({ dataDir, log: makeLogger("silent"), purpose: "command" });
  const client = new pg.Client(server.connection);
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
    await server.release();
  }
}
