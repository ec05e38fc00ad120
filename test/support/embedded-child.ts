/** A process of its own that opens the embedded server, says so on stdout and keeps it until it reads a line or is killed. */

import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";

const [dataDir = "", purpose, transport] = process.argv.slice(2);
try {
  const server = await openEmbeddedServer({
    dataDir,
    log: makeLogger("silent"),
    purpose: purpose === "service" ? "service" : "command",
    transport: transport === "tcp" ? "tcp" : "auto",
  });
  console.log(JSON.stringify(server.connection));
  process.stdin.once("data", async () => {
    process.stdin.destroy();
    await server.release();
    console.log("released");
  });
} catch (error) {
  console.log(JSON.stringify({ error: String(error) }));
}
