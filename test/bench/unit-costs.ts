import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { embeddedUrl } from "../support/embedded-client.ts";
import { registerFleet } from "../support/fleet.ts";
import { type Credentials, fetchTokenOf, startVigil, tempFolder, vigilJson } from "../support/vigil-process.ts";
import type { MeasuredUnits, UnitCost } from "./capacity/measured-units.ts";
import { conditionsNow } from "./conditions.ts";
import { bytesOf } from "./cost-tables.ts";
import { measureFirstTouch } from "./first-touch.ts";

import { connectDevices } from "./load-process.ts";
import { cpuMs, databaseCpuMs } from "./process-cpu.ts";
import { loadReads } from "./read-world.ts";
import { makeCertificates, openReceiverProcess } from "./receiver-process.ts";
import type { Row } from "./report.ts";

const devices = 500;
/** Packets a second, each of which is a delivery. */
const rate = 1000;
const roundMs = 8000;
const readMs = 2000;
const firstUid = 860_000_000_000_000;
/** `--wal-compression lz4` for a server that compresses the pages in its log: prints only. */
const compressionAt = process.argv.indexOf("--wal-compression");
/** What belongs to a device however often it sends. */
const deviceTables = ["devices", "device_state", "device_sessions"];

const calls = {
  "20 devices": "/api/v1/devices/?page_size=20",
  "a device": `/api/v1/devices/${firstUid}/`,
  "20 positions of a device": `/api/v1/devices/${firstUid}/locations/?page_size=20`,
  "20 readings of a device": `/api/v1/devices/${firstUid}/telemetry/?page_size=20`,
  "100 rows of the log": "/api/v1/partner/outbound-events/?limit=100",
};

interface Measured extends UnitCost {
  count: number;
  walBytes: number;
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
const round = (value: number): number => Number(value.toPrecision(4));

/**
 * What a delivery and calls cost, each from a process that has no other role: CPU of both sides, bytes. A delivery is measured
 * twice, from a backlog and of packets that come meanwhile. Writes test/bench/capacity/measured-units.json, from which the page
 * for operators is made; compares nothing.
 */
export async function benchUnitCosts(): Promise<Row[]> {
  const folder = await tempFolder();
  await makeCertificates(folder.path);
  const receiver = await openReceiverProcess(folder.path);
  const settings = { wal_compression: compressionAt < 0 ? "off" : (process.argv[compressionAt + 1] as string) };
  const log = makeLogger("silent");
  const server = await openEmbeddedServer({ dataDir: folder.path, log, purpose: "command", settings });
  const env = {
    DATABASE_URL: embeddedUrl(server.connection),
    VIGIL_LOG_LEVEL: "warn",
    VIGIL_PROCESSES: "1",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_GATEWAY_PACKETS_PER_MINUTE: "1000000",
    VIGIL_GATEWAY_NEW_PER_ADDRESS_PER_MINUTE: "1000000",
    VIGIL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    VIGIL_WEBHOOK_CA_FILE: join(folder.path, "ca.pem"),
  };
  const where = ["--data-dir", folder.path];
  const stops: (() => Promise<unknown>)[] = [];
  const start = async (role: string) => {
    const service = await startVigil([...where, "--roles", role], env);
    stops.push(() => service.kill("SIGTERM"));
    return { ...service, pid: service.process.pid as number };
  };
  const client = new pg.Client(server.connection);
  await client.connect();
  try {
    const gateway = await start("gateway");
    await registerFleet(client, devices, firstUid);
    await client.query("update organizations set per_minute = 1000000000, per_hour = 1000000000");
    const port = Number(gateway.gateway.split(":").at(-1));
    const fleet = await connectDevices(port, devices, [firstUid, Date.now() - 3_600_000]);
    const firstTouchWalBytes = await measureFirstTouch(client, fleet, devices);

    const slug = await value<string>("select slug as value from organizations limit 1");
    const options = ["--org", slug, "--name", "Bench", "--webhook-url", receiver.url("/ours")];
    const integration = await vigilJson<Credentials>(["integration", "create", ...options, ...where], env);
    const send = async (): Promise<number> => {
      const before = await rowsOf("outbound_events");
      await fleet.run(roundMs, rate);
      return (await rowsOf("outbound_events")) - before;
    };
    await fleet.run(3000, rate);
    // As a server is in operation: without statistics its plans are others.
    await client.query("vacuum analyze");
    const undelivered = await costOf(gateway.pid, send);
    const waiting = await rowsOf("outbound_events");
    const worker = await start("worker");
    await arrived(waiting / 4);
    const fromBacklog = await costOf(worker.pid, async () => {
      const { count } = await receiver.stats("/ours");
      await recorded(waiting);
      return waiting - count;
    });
    const stored = await bytesOf(client);
    const meanwhile = await costOf(worker.pid, async () => {
      const sent = await send();
      await recorded(waiting + sent);
      return sent;
    });
    const sizes = await bytesOf(client);
    const bytes = (names: readonly string[], of = sizes): number =>
      names.reduce((sum, name) => sum + (of.get(name)?.bytes ?? 0) + (of.get(name)?.index_bytes ?? 0), 0);
    const attempts = ["delivery_attempts"];
    const measured: MeasuredUnits = {
      conditions: conditionsNow(),
      delivery: {
        programUs: meanwhile.programUs,
        databaseUs: round(meanwhile.databaseUs - undelivered.databaseUs),
        walBytes: round(meanwhile.walBytes - undelivered.walBytes),
        diskBytes: round((bytes(attempts) - bytes(attempts, stored)) / meanwhile.count),
      },
      deliveryFromBacklog: { programUs: fromBacklog.programUs, databaseUs: fromBacklog.databaseUs },
      calls: {},
      deviceBytes: round(bytes(deviceTables) / devices),
      databaseConnectionBytes: round(await memoryOfConnection()),
      firstTouchWalBytes,
    };
    console.log(`  ${JSON.stringify({ undelivered, fromBacklog, meanwhile })}`);
    await fleet.close();

    await client.query("vacuum analyze");
    const api = await start("api");
    const authorization = `Bearer ${await fetchTokenOf(api.http, integration)}`;
    for (const [name, path] of Object.entries(calls)) {
      const read = (ms: number): Promise<number> => loadReads(api.http, path, authorization, ms);
      await read(readMs);
      const { programUs, databaseUs } = await costOf(api.pid, async () => (await read(readMs)) * (readMs / 1000));
      measured.calls[name] = { programUs, databaseUs };
    }
    console.log(`  ${JSON.stringify(measured)}`);
    const file = join(import.meta.dirname, "capacity/measured-units.json");
    if (compressionAt < 0) writeFileSync(file, `${JSON.stringify(measured, null, 2)}\n`);
    return [];
  } finally {
    for (const stop of stops) await stop();
    await client.end();
    await server.release();
    receiver.child.kill();
    await folder.remove();
  }

  async function costOf(pid: number, work: () => Promise<number>): Promise<Measured> {
    const counts = async () => [cpuMs(pid), databaseCpuMs(folder.path), await walPosition()] as const;
    const before = await counts();
    const count = await work();
    const after = await counts();
    return {
      count,
      programUs: round(((after[0] - before[0]) * 1000) / count),
      databaseUs: round(((after[1] - before[1]) * 1000) / count),
      walBytes: round((after[2] - before[2]) / count),
    };
  }

  async function value<T>(query: string): Promise<T> {
    const { rows } = await client.query<{ value: T }>(query);
    return rows[0]?.value as T;
  }

  function rowsOf(table: string): Promise<number> {
    return value(`select count(*)::float8 as value from ${table}`);
  }

  function walPosition(): Promise<number> {
    return value("select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as value");
  }

  async function arrived(count: number): Promise<void> {
    while ((await receiver.stats("/ours")).count < count) await pause(20);
  }

  /** Until the attempts are on record, too. */
  async function recorded(count: number): Promise<void> {
    await arrived(count);
    while ((await rowsOf("delivery_attempts")) < count) await pause(50);
  }

  async function memoryOfConnection(): Promise<number> {
    const pids = await value<number[]>(
      "select array_agg(pid) as value from pg_stat_activity where application_name = 'vigil'",
    );
    const own = pids.map((pid) => {
      const [, kilobytes = 0] =
        /^Private_Dirty:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
      return Number(kilobytes) * 1024;
    });
    return own.reduce((sum, bytes) => sum + bytes, 0) / own.length;
  }
}
