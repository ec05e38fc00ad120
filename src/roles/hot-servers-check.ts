import type { Config } from "../config.ts";
import { type Database, openDatabase } from "../db/database.ts";
import { hotServerProblem } from "../db/hot-servers.ts";
import { makeLogger } from "../lib/logger.ts";
import type { Check } from "./doctor-checks.ts";

/** Whether the workers of the settings can be used, one check for each. */
export function checkHotServers(
  { databaseHotUrls }: Pick<Config, "databaseHotUrls">,
  main: Database,
): Promise<Check[]> {
  return Promise.all(databaseHotUrls.map((url) => checkOne(url, main)));
}

async function checkOne(connectionString: string, main: Database): Promise<Check> {
  const server = openDatabase({ connection: { connectionString }, log: makeLogger("silent"), poolSize: 1 });
  const name = "hot_server";
  const { host } = new URL(connectionString);
  const advice = "the main database is read instead: check VIGIL_DATABASE_HOT_URLS";
  try {
    const problem = await hotServerProblem(main, server);
    if (problem !== undefined) return { name, ok: false, detail: `${host}: ${problem}; ${advice}` };
    return { name, ok: true, detail: `${host} answers for the tables that are spread over the workers` };
  } catch (error) {
    return { name, ok: false, detail: `${host}: ${error instanceof Error ? error.message : String(error)}; ${advice}` };
  } finally {
    await server.close();
  }
}
