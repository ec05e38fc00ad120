import pg from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { embeddedUrl } from "../support/embedded-client.ts";
import { addIntegrations, registerFleet } from "../support/fleet.ts";
import { type RunningVigil, startVigil, tempFolder } from "../support/vigil-process.ts";
import { type LaneShares, sampleLanes } from "./lane-samples.ts";
import { type LoadProtocol, loadFrames } from "./load-frames.ts";
import { load } from "./load-process.ts";
import { cpuMs, databaseCoreMs, databaseCpuMs } from "./process-cpu.ts";
import { median, type Row } from "./report.ts";

const isQuick = process.argv.includes("--quick");
const rounds = isQuick ? 1 : 2;
const roundMs = 4000;
const devices = 2000;
const many = 100;
/** What a flush of the log takes longer on a slow disk. */
const flushMs = 5;
/** `--gateways 3` for one number of them. */
const gatewaysAt = process.argv.indexOf("--gateways");
const gatewayCounts = gatewaysAt >= 0 ? [Number(process.argv[gatewaysAt + 1])] : isQuick ? [1, 2] : [1, 2, 3];
const protocol: LoadProtocol = process.argv.includes("--teltonika") ? "teltonika" : "iw";
const { modelSlug, fixesPerFrame } = loadFrames[protocol];
const firstUids = { one: 864_000_000_000_000, many: 865_000_000_000_000 };

interface Measured {
  rowsPerSecond: number;
  p99: number;
  lanes: LaneShares;
  programUs: number;
  databaseUs: number;
  /** Rows of the transactions that were committed, on average. */
  rowsPerBatch: number;
  /** Of the time in which the database could have worked, what it waited for a core. */
  coreWait: number;
}

/**
 * Rows of the outbound log that one organization can have, all of whose batches wait for one lane, against as many devices of a
 * hundred organizations, which share the machine and no lock: on one and several gateway processes, with the disk as it is and
 * with a slow one. Beside the ratios it prints how long the lane is locked and by whom: rows divided by that share are what the
 * lock alone would allow.
 */
export async function benchTenant(): Promise<Row[]> {
  const folder = await tempFolder();
  const server = await openEmbeddedServer({ dataDir: folder.path, log: makeLogger("silent"), purpose: "command" });
  const env = {
    DATABASE_URL: embeddedUrl(server.connection),
    VIGIL_LOG_LEVEL: "fatal",
    VIGIL_PROCESSES: "1",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_GATEWAY_PACKETS_PER_MINUTE: "1000000",
    VIGIL_GATEWAY_NEW_PER_ADDRESS_PER_MINUTE: "1000000",
  };
  const gateways: RunningVigil[] = [];
  const client = new pg.Client(server.connection);
  try {
    // One after the other: the first brings the schema.
    for (let n = 0; n < Math.max(...gatewayCounts); n++)
      gateways.push(await startVigil(["--data-dir", folder.path, "--roles", "gateway"], env));
    await client.connect();
    await registerFleet(client, devices, firstUids.one, { protocol, modelSlug });
    for (let n = 0; n < many; n++) {
      const each = devices / many;
      await registerFleet(client, each, firstUids.many + n * each, { protocol, modelSlug });
    }
    await addIntegrations(client, 1);
    // Programs that are still compiled would make the first one look slow.
    await measure(gateways, firstUids.many);
    const rows: Row[] = [];
    for (const delayMs of [0, flushMs]) {
      await client.query(`alter system set commit_delay = ${delayMs * 1000}`);
      await client.query("alter system set commit_siblings = 0");
      await client.query("select pg_reload_conf()");
      for (const count of gatewayCounts) rows.push(await compare(gateways.slice(0, count), delayMs));
    }
    return rows;
  } finally {
    await client.end();
    await Promise.all(gateways.map((one) => one.kill("SIGTERM")));
    await server.release();
    await folder.remove();
  }

  async function compare(used: readonly RunningVigil[], delayMs: number): Promise<Row> {
    const all: Record<"one" | "many", Measured[]> = { one: [], many: [] };
    for (let round = 0; round < rounds; round++) {
      for (const kind of ["one", "many"] as const) all[kind].push(await measure(used, firstUids[kind]));
    }
    const disk = delayMs === 0 ? "the disk as it is" : `${delayMs} ms a flush`;
    const what = `one organization on ${used.length} gateways, ${disk}, bare: ${many} organizations`;
    for (const kind of ["one", "many"] as const) print(`${what} (${kind})`, all[kind]);
    const perSecond = (kind: "one" | "many"): number[] => all[kind].map(({ rowsPerSecond }) => rowsPerSecond);
    return {
      what,
      ours: median(perSecond("one")),
      bare: median(perSecond("many")),
      unit: "rows/s",
      ratios: perSecond("one").map((value, round) => value / (perSecond("many")[round] as number)),
      goal: 0.9,
    };
  }

  async function measure(used: readonly RunningVigil[], firstUid: number): Promise<Measured> {
    const each = Math.floor(devices / used.length);
    let connected = 0;
    let begin: () => void = () => undefined;
    const allConnected = new Promise<void>((done) => {
      begin = done;
    });
    const pids = used.map(({ process: { pid } }) => pid as number);
    const programMs = (): number => pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
    let sampler: ReturnType<typeof sampleLanes> | undefined;
    let [program, database, batches] = [0, 0, 0];
    let cores = { ran: 0, waited: 0 };
    const loads = await Promise.all(
      used.map(async ({ gateway }, index) => {
        const ready = async (): Promise<void> => {
          if (++connected < used.length) return allConnected;
          [program, database, batches] = [programMs(), databaseCpuMs(folder.path), await batchCount()];
          cores = databaseCoreMs(folder.path);
          sampler = sampleLanes(client);
          begin();
        };
        const port = Number(gateway.split(":").at(-1));
        return load({ port }, each, roundMs, 0, ready, [firstUid + index * each, "--protocol", protocol]);
      }),
    );
    const lanes = (await sampler?.stop()) as LaneShares;
    const rowsPerSecond = loads.reduce((sum, { perSecond }) => sum + perSecond, 0) * fixesPerFrame;
    const after = databaseCoreMs(folder.path);
    const [ran, waited] = [after.ran - cores.ran, after.waited - cores.waited];
    const perRow = (ms: number): number => (ms * 1000) / (rowsPerSecond * (roundMs / 1000));
    return {
      rowsPerSecond,
      p99: Math.max(...loads.map(({ p99 }) => p99)),
      lanes,
      programUs: perRow(programMs() - program),
      databaseUs: perRow(databaseCpuMs(folder.path) - database),
      rowsPerBatch: (rowsPerSecond * (roundMs / 1000)) / Math.max(1, (await batchCount()) - batches),
      coreWait: waited / Math.max(1, ran + waited),
    };
  }

  async function batchCount(): Promise<number> {
    const { rows } = await client.query("select count(*)::int as count from ingest_batches");
    return rows[0].count;
  }
}

function print(what: string, measured: readonly Measured[]): void {
  const of = (pick: (one: Measured) => number): number => median(measured.map(pick));
  const percent = (pick: (lanes: LaneShares) => number): string =>
    `${(of(({ lanes }) => pick(lanes)) * 100).toFixed(0)} %`;
  const locked = of(({ lanes }) => lanes.program + lanes.rows + lanes.commit);
  const number = (pick: (one: Measured) => number, digits = 0): string => of(pick).toFixed(digits);
  const allowed = of(({ rowsPerSecond }) => rowsPerSecond) / Math.max(0.001, locked);
  console.log(
    `  ${what}: ${number(({ rowsPerSecond }) => rowsPerSecond)} rows/s, ${number(({ rowsPerBatch }) => rowsPerBatch)} a transaction, p99 ${number(({ p99 }) => p99)} ms\n` +
      `    locked by the program ${percent(({ program }) => program)}, rows ${percent(({ rows }) => rows)}, commit ${percent(({ commit }) => commit)}; waiting ${number(({ lanes }) => lanes.waiting, 2)}; the lock alone allows ${allowed.toFixed(0)}\n` +
      `    CPU ${number(({ programUs }) => programUs)} + ${number(({ databaseUs }) => databaseUs)} us a row; the database waited for a core ${(of(({ coreWait }) => coreWait) * 100).toFixed(0)} % of its time`,
  );
}
