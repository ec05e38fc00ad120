import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { embeddedUrl } from "../support/embedded-client.ts";
import { addIntegrations, registerFleet } from "../support/fleet.ts";
import { startVigil, tempFolder } from "../support/vigil-process.ts";
import { load } from "./load-process.ts";
import { cpuMs, databaseCpuMs } from "./process-cpu.ts";
import type { Row } from "./report.ts";
import type { MeasuredRun } from "./simulation/measured-run.ts";

const roundMs = 6000;
const integrations = process.argv.includes("--partner") ? 1 : 0;

/**
 * Runs of the ingest load at several rates with all that the simulation of the queues needs and all that it must give: CPU of each
 * side, batches, flushes, answers. Writes test/bench/simulation/measured-runs.json; `npm run capacity -- --check` compares.
 */
export async function benchQueues(): Promise<Row[]> {
  const folder = await tempFolder();
  const server = await openEmbeddedServer({
    dataDir: folder.path,
    log: makeLogger("silent"),
    purpose: "command",
    settings: { track_wal_io_timing: "on" },
  });
  const service = await startVigil(["--data-dir", folder.path, "--processes", "1"], {
    DATABASE_URL: embeddedUrl(server.connection),
    VIGIL_LOG_LEVEL: "fatal",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_GATEWAY_PACKETS_PER_MINUTE: "1000000",
    VIGIL_GATEWAY_NEW_PER_ADDRESS_PER_MINUTE: "1000000",
  });
  const client = new pg.Client(server.connection);
  const port = Number(service.gateway.split(":").at(-1));
  const pid = service.process.pid as number;
  try {
    await client.connect();
    await registerFleet(client, 10_000);
    await addIntegrations(client, integrations);
    const runs: MeasuredRun[] = [];
    await run(1000, 0);
    const idle = await idleCpu();
    for (const rate of [250, 1000, 3000]) runs.push(await run(1000, rate));
    for (const devices of [1000, 10_000]) {
      const full = await run(devices, 0);
      runs.push(full, await run(devices, Math.round(full.perSecond / 2)));
    }
    const roundTripUs = await roundTrip();
    const file = join(
      import.meta.dirname,
      "simulation",
      integrations ? "measured-with-partner.json" : "measured-runs.json",
    );
    writeFileSync(file, `${JSON.stringify({ cores: 2, roundTripUs, idle, runs }, null, 2)}\n`);
    for (const one of runs) console.log(`  ${JSON.stringify(one)}`);
    console.log(`  idle ${JSON.stringify(idle)}, round trip ${roundTripUs.toFixed(0)} us`);
    return [];
  } finally {
    await client.end();
    await service.kill("SIGTERM");
    await server.release();
    await folder.remove();
  }

  async function run(devices: number, rate: number): Promise<MeasuredRun> {
    let begin = await counts();
    const loaded = await load({ port }, devices, roundMs, rate, async () => {
      await client.query("checkpoint");
      begin = await counts();
    });
    const end = await counts();
    const packets = end.packets - begin.packets;
    const perPacket = (pick: (one: typeof end) => number): number => ((pick(end) - pick(begin)) * 1000) / packets;
    return {
      devices,
      rate,
      perSecond: round(loaded.perSecond),
      p50Ms: round(loaded.p50),
      p99Ms: round(loaded.p99),
      packetsPerBatch: round(packets / (end.batches - begin.batches)),
      programUs: round(perPacket(({ program }) => program)),
      databaseUs: round(perPacket(({ database }) => database)),
      deviceUs: round((loaded.cpuMs * 1000) / packets),
      flushMs: round((end.flushMs - begin.flushMs) / Math.max(1, end.flushes - begin.flushes)),
    };
  }

  async function counts() {
    const text = await (await fetch(`${service.ops}/metrics`)).text();
    const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? 0);
    const { rows } = await client.query<{ flushes: number; flush_ms: number }>(
      "select sum(fsyncs)::float8 as flushes, sum(fsync_time)::float8 as flush_ms from pg_stat_io where object = 'wal'",
    );
    return {
      packets: value("vigil_ingest_packets_total"),
      batches: value("vigil_ingest_batches_total"),
      program: cpuMs(pid),
      database: databaseCpuMs(folder.path),
      flushes: rows[0]?.flushes ?? 0,
      flushMs: rows[0]?.flush_ms ?? 0,
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

const round = (value: number): number => Number(value.toPrecision(4));
