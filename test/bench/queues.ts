import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { embeddedUrl } from "../support/embedded-client.ts";
import { addIntegrations, registerFleet } from "../support/fleet.ts";
import { startVigil, tempFolder } from "../support/vigil-process.ts";
import { conditionsNow } from "./conditions.ts";
import { bytesOf } from "./cost-tables.ts";
import { openGcLog } from "./gc-log.ts";
import { connectDevices } from "./load-process.ts";
import { cpuMs, databaseCpuMs, machineMs, memoryBytes } from "./process-cpu.ts";
import type { Row } from "./report.ts";
import type { MeasuredRun, MeasuredRuns, Pauses } from "./simulation/measured-run.ts";

const warmUpMs = 1000;
const roundMs = 3000;
const rounds = 2;
const maxDevices = 10_000;
/** Devices without a partner, and those of an organization with one that is told everything. */
const firstUids = [860_000_000_000_000, 861_000_000_000_000] as const;

/**
 * Runs of the ingest load at several rates, without and with rows of the outbound log in turns, with all that the simulation of the
 * queues needs and all that it must give: CPU of each side, batches, flushes, pauses for garbage, answers. Writes
 * test/bench/simulation/measured-runs.json; `npm run capacity -- --check` compares.
 */
export async function benchQueues(): Promise<Row[]> {
  const folder = await tempFolder();
  const server = await openEmbeddedServer({
    dataDir: folder.path,
    log: makeLogger("silent"),
    purpose: "command",
    settings: { track_wal_io_timing: "on" },
  });
  const gcLog = openGcLog(folder.path);
  const env = {
    DATABASE_URL: embeddedUrl(server.connection),
    VIGIL_LOG_LEVEL: "fatal",
    VIGIL_PROCESSES: "1",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_GATEWAY_PACKETS_PER_MINUTE: "1000000",
    VIGIL_GATEWAY_NEW_PER_ADDRESS_PER_MINUTE: "1000000",
  };
  const service = await startVigil(["--data-dir", folder.path, "--roles", "gateway"], env, "start", gcLog.flags);
  const client = new pg.Client(server.connection);
  const port = Number(service.gateway.split(":").at(-1));
  const pid = service.process.pid as number;
  try {
    await client.connect();
    await registerFleet(client, maxDevices, firstUids[1]);
    await addIntegrations(client, 1);
    await registerFleet(client, maxDevices, firstUids[0]);
    const runs: MeasuredRun[] = [];
    for (const partners of [0, 1] as const) await run(1000, 0, partners);
    const idle = await idleCpu();
    const before = await bytesOf(client);
    const stored = { packets: (await counts()).packets, rows: await rowsOfLog() };
    const half = new Map<number, number>();
    const both = async (devices: number, rate: number): Promise<void> => {
      for (const partners of [0, 1] as const) runs.push(await run(devices, rate, partners));
    };
    for (let round = 0; round < rounds; round++) {
      for (const rate of [250, 1000, 3000]) await both(1000, rate);
      for (const devices of [1000, maxDevices]) {
        await both(devices, 0);
        if (!half.has(devices)) half.set(devices, Math.round((runs.at(-1) as MeasuredRun).perSecond / 2));
        await both(devices, half.get(devices) as number);
      }
    }
    const after = await bytesOf(client);
    const packets = (await counts()).packets - stored.packets;
    const grown = (count: number, ...names: string[]): number =>
      round(names.reduce((sum, name) => sum + sizeOf(after, name) - sizeOf(before, name), 0) / count);
    const bytes = {
      history: grown(packets, "locations", "telemetry"),
      keys: grown(packets, "ingest_frames"),
      log: grown((await rowsOfLog()) - stored.rows, "outbound_events"),
    };
    const roundTripUs = await roundTrip();
    const file = join(import.meta.dirname, "simulation/measured-runs.json");
    const measured: MeasuredRuns = {
      conditions: conditionsNow(),
      cores: cpus().length,
      roundTripUs,
      idle,
      bytes,
      runs,
    };
    writeFileSync(file, `${JSON.stringify(measured, null, 2)}\n`);
    for (const one of runs) console.log(`  ${JSON.stringify(one)}`);
    console.log(`  idle ${JSON.stringify(idle)}, round trip ${roundTripUs.toFixed(0)} us`);
    return [];
  } finally {
    await client.end();
    await service.kill("SIGTERM");
    await server.release();
    await folder.remove();
  }

  async function run(devices: number, rate: number, partners: 0 | 1): Promise<MeasuredRun> {
    const fleet = await connectDevices(port, devices, [firstUids[partners]]);
    try {
      await client.query("checkpoint");
      // The process of the devices is a new one, too.
      await fleet.run(warmUpMs, rate);
      gcLog.take();
      const begin = await counts();
      const loaded = await fleet.run(roundMs, rate);
      // Before they disconnect, which costs the program something too.
      const end = await counts();
      const gc = gcLog.take();
      const packets = end.packets - begin.packets;
      const grown = (pick: (one: typeof end) => number): number => pick(end) - pick(begin);
      const perPacket = (pick: (one: typeof end) => number): number => round((grown(pick) * 1000) / packets);
      return {
        devices,
        rate,
        partners,
        perSecond: round(loaded.perSecond),
        p50Ms: round(loaded.p50),
        p99Ms: round(loaded.p99),
        packetsPerBatch: round(packets / grown(({ batches }) => batches)),
        batchMs: round((grown(({ batchSeconds }) => batchSeconds) * 1000) / grown(({ batches }) => batches)),
        programUs: perPacket(({ program }) => program),
        databaseUs: perPacket(({ database }) => database),
        deviceUs: round((loaded.cpuMs * 1000) / packets),
        flushMs: round(
          grown(({ flushMs }) => flushMs) /
            Math.max(
              1,
              grown(({ flushes }) => flushes),
            ),
        ),
        walBytes: round(grown(({ wal }) => wal) / packets),
        memoryBytes: memoryBytes(pid),
        cpuShare: round(grown(({ machine }) => machine.busy) / grown(({ machine }) => machine.all)),
        minorGc: pausesOf(gc.minor),
        majorGc: pausesOf(gc.major),
      };
    } finally {
      await fleet.close();
    }
  }

  async function rowsOfLog(): Promise<number> {
    const { rows } = await client.query<{ count: number }>("select count(*)::float8 as count from outbound_events");
    return rows[0]?.count ?? 0;
  }

  async function counts() {
    const text = await (await fetch(`${service.ops}/metrics`)).text();
    const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? 0);
    const { rows } = await client.query<{
      flushes: number;
      flush_ms: number;
      wal: number;
    }>(
      `select sum(fsyncs) filter (where context = 'normal')::float8 as flushes,
         sum(fsync_time) filter (where context = 'normal')::float8 as flush_ms,
         (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as wal
       from pg_stat_io where object = 'wal'`,
    );
    return {
      packets: value("vigil_ingest_packets_total"),
      batches: value("vigil_ingest_batches_total"),
      batchSeconds: value("vigil_ingest_commit_seconds_sum"),
      program: cpuMs(pid),
      database: databaseCpuMs(folder.path),
      machine: machineMs(),
      flushes: rows[0]?.flushes ?? 0,
      flushMs: rows[0]?.flush_ms ?? 0,
      wal: rows[0]?.wal ?? 0,
    };
  }

  /** Core time a second of a service that only holds the connections. */
  async function idleCpu(): Promise<{ programUs: number; databaseUs: number }> {
    const seconds = 4;
    const begin = [cpuMs(pid), databaseCpuMs(folder.path)] as const;
    await new Promise((done) => setTimeout(done, seconds * 1000));
    const perSecond = (ms: number): number => round((ms * 1000) / seconds);
    return {
      programUs: perSecond(cpuMs(pid) - begin[0]),
      databaseUs: perSecond(databaseCpuMs(folder.path) - begin[1]),
    };
  }

  /** How long an answer of the database is under way beyond the CPU of both sides. */
  async function roundTrip(): Promise<number> {
    const count = 5000;
    const [own, database, startedMs] = [process.cpuUsage(), databaseCpuMs(folder.path), performance.now()];
    for (let n = 0; n < count; n++) await client.query("select 1");
    const { user, system } = process.cpuUsage(own);
    const busyUs = user + system + (databaseCpuMs(folder.path) - database) * 1000;
    return Math.max(0, round(((performance.now() - startedMs) * 1000 - busyUs) / count));
  }
}

const sizeOf = (sizes: Awaited<ReturnType<typeof bytesOf>>, table: string): number => {
  const { bytes = 0, index_bytes = 0 } = sizes.get(table) ?? {};
  return bytes + index_bytes;
};

const pausesOf = (ms: readonly number[]): Pauses => ({
  perSecond: round(ms.length / (roundMs / 1000)),
  ms: round(ms.reduce((sum, one) => sum + one, 0) / Math.max(1, ms.length)),
});

const round = (value: number): number => Number(value.toPrecision(4));
