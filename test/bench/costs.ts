import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { embeddedUrl, withEmbedded } from "../support/embedded-client.ts";
import { addIntegrations, registerFleet } from "../support/fleet.ts";
import { startVigil, tempFolder } from "../support/vigil-process.ts";
import { cpuByRoom } from "./cpu-by-room.ts";
import { load } from "./load-process.ts";
import { cpuMs, databaseCpuMs } from "./process-cpu.ts";
import type { Row } from "./report.ts";

const connections = 1000;
const loadMs = 10_000;
/** A fixed rate: at full speed the size of batches, and so the cost of a packet, follows the machine. */
const rate = 2000;

interface StatementCost {
  statement: string;
  calls: number;
  ms: number;
  wal: number;
}

interface TableCost {
  name: string;
  bytes: number;
  index_bytes: number;
}

/**
 * Where the time and the bytes of a packet go, on both sides of the database socket: CPU of the program by room and of the server,
 * time and WAL by statement, bytes by table. Prints tables for docs/developers/performance.md; compares nothing.
 */
export async function benchCosts(): Promise<Row[]> {
  for (const partners of [0, 1]) await measure(partners);
  return [];
}

async function measure(partners: number): Promise<void> {
  const folder = await tempFolder();
  const profiles = join(folder.path, "profiles");
  mkdirSync(profiles);
  const settings = { shared_preload_libraries: "pg_stat_statements", "pg_stat_statements.track": "all" };
  const server = await openEmbeddedServer({
    dataDir: folder.path,
    log: makeLogger("silent"),
    purpose: "command",
    settings,
  });
  const env = {
    DATABASE_URL: embeddedUrl(server.connection),
    VIGIL_LOG_LEVEL: "fatal",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_GATEWAY_PACKETS_PER_MINUTE: "1000000",
    VIGIL_GATEWAY_NEW_PER_ADDRESS_PER_MINUTE: "1000000",
  };
  const profiling = ["--cpu-prof", `--cpu-prof-dir=${profiles}`];
  const service = await startVigil(["--data-dir", folder.path], env, "start", profiling);
  try {
    const target = { port: Number(service.gateway.split(":").at(-1)) };
    await withEmbedded(folder.path, async (client) => {
      await registerFleet(client, connections);
      await addIntegrations(client, partners);
      await client.query("create extension pg_stat_statements");
      await load(target, connections, 3000, rate);
      await client.query("select pg_stat_statements_reset()");
      const before = await bytesOf(client);
      const pid = service.process.pid as number;
      const [own, database] = [cpuMs(pid), databaseCpuMs(folder.path)];
      const { perSecond } = await load(target, connections, loadMs, rate);
      const packets = (perSecond * loadMs) / 1000;
      const perPacket = (ms: number): string => ((ms * 1000) / packets).toFixed(1);
      console.log(`\n${partners} integrations that are told everything, ${connections} devices, ${rate} packets/s`);
      console.log(`  CPU of the program: ${perPacket(cpuMs(pid) - own)} us a packet`);
      console.log(`  CPU of the database: ${perPacket(databaseCpuMs(folder.path) - database)} us a packet`);
      await printStatements(client, packets);
      printTables(before, await bytesOf(client), packets);
    });
    await service.kill("SIGTERM");
    printRooms(profiles);
  } finally {
    await service.kill("SIGKILL");
    await server.release();
    await folder.remove();
  }
}

async function printStatements(client: pg.Client, packets: number): Promise<void> {
  const { rows } = await client.query<StatementCost>(
    `select regexp_replace(query, '\\s+', ' ', 'g') as statement, calls::int, total_exec_time as ms, wal_bytes::float8 as wal
     from pg_stat_statements where total_exec_time > 0 order by total_exec_time desc limit 12`,
  );
  const { rows: sums } = await client.query<{ wal: number }>(
    "select sum(wal_bytes)::float8 as wal from pg_stat_statements",
  );
  console.log(`  WAL: ${((sums[0]?.wal ?? 0) / packets).toFixed(0)} bytes a packet`);
  console.log("  statements, us and WAL bytes a packet, packets a call:");
  for (const { statement, calls, ms, wal } of rows) {
    const figures = [(ms * 1000) / packets, wal / packets, packets / calls].map((value) =>
      value.toFixed(1).padStart(7),
    );
    console.log(`    ${figures.join("")}  ${statement.slice(0, 90)}`);
  }
}

async function bytesOf(client: pg.Client): Promise<Map<string, TableCost>> {
  const { rows } = await client.query<TableCost>(
    `select regexp_replace(relname, '_[pm]\\d{8}$', '') as name, sum(pg_table_size(oid))::float8 as bytes,
       sum(pg_indexes_size(oid))::float8 as index_bytes
     from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' group by 1`,
  );
  return new Map(rows.map((row) => [row.name, row]));
}

function printTables(
  before: ReadonlyMap<string, TableCost>,
  after: ReadonlyMap<string, TableCost>,
  packets: number,
): void {
  console.log("  tables that grew, bytes of rows and of indexes a packet:");
  for (const [name, { bytes, index_bytes }] of after) {
    const old = before.get(name) ?? { bytes: 0, index_bytes: 0 };
    const [rows, indexes] = [(bytes - old.bytes) / packets, (index_bytes - old.index_bytes) / packets];
    if (rows + indexes >= 1)
      console.log(`    ${rows.toFixed(0).padStart(5)}${indexes.toFixed(0).padStart(6)}  ${name}`);
  }
}

/** Of the whole life of the process: starting takes a few seconds of it. */
function printRooms(folder: string): void {
  const [file] = readdirSync(folder).filter((name) => name.endsWith(".cpuprofile"));
  if (!file) return;
  console.log("  CPU of the program by room, in percent of what is not idle:");
  for (const [room, share] of cpuByRoom(join(folder, file)).slice(0, 16)) {
    console.log(`    ${(share * 100).toFixed(1).padStart(5)}  ${room}`);
  }
}
