import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { withEmbedded } from "../support/embedded-client.ts";
import { registerFleet } from "../support/fleet.ts";
import { type RunningVigil, startVigil, tempFolder } from "../support/vigil-process.ts";
import { load } from "./load-process.ts";
import { databaseCpuMs, pinTo, serviceCpuMs } from "./process-cpu.ts";
import { median, type Row } from "./report.ts";

const isQuick = process.argv.includes("--quick");
const rounds = isQuick ? 2 : 4;
const roundMs = 5000;
/** `--connections 10000` for one number of them, and the plans alone. */
const connectionsAt = process.argv.indexOf("--connections");
const onlyConnections = connectionsAt >= 0 ? Number(process.argv[connectionsAt + 1]) : undefined;

interface Service {
  name: string;
  folder: string;
  running: RunningVigil;
}

interface Measured {
  perSecond: number;
  p99: number;
  programUs: number;
  databaseUs: number;
}

/**
 * Durable packets of `vigil start --processes 4` against `--processes 1`, and of two cores against one. The devices and the
 * database share the cores with the program; on one core `taskset` keeps all of them there.
 */
export async function benchProcesses(): Promise<Row[]> {
  if (spawnSync("taskset", ["--version"]).error) throw new Error("this bench needs taskset (util-linux)");
  const cores = availableParallelism();
  if (cores < 2) throw new Error("this bench needs two cores");
  const folders = [await tempFolder(), await tempFolder()];
  const services: Service[] = [];
  try {
    for (const [index, processes] of [1, 4].entries()) {
      const folder = folders[index]?.path as string;
      const running = await startVigil(["--data-dir", folder, "--processes", String(processes)], {
        VIGIL_LOG_LEVEL: "warn",
        VIGIL_GATEWAY_HOST: "127.0.0.1",
        VIGIL_GATEWAY_PACKETS_PER_MINUTE: "1000000",
        VIGIL_GATEWAY_NEW_PER_ADDRESS_PER_MINUTE: "1000000",
        VIGIL_GATEWAY_MAX_PER_ADDRESS: "100000",
      });
      services.push({ name: processes === 1 ? "1 process" : "4 processes", folder, running });
      await withEmbedded(folder, (client) => registerFleet(client, 10_000));
    }
    const [one, four] = services as [Service, Service];
    for (const service of services) await measure(service, 1000, "0-1");
    const rows: Row[] = [];
    const counts = onlyConnections ? [onlyConnections] : isQuick ? [1000] : [1000, 10_000];
    for (const connections of counts) rows.push(await comparePlans(one, four, connections));
    if (onlyConnections) return rows;
    for (const service of services) rows.push(await compareCores(service));
    return rows;
  } finally {
    pinTo(`0-${cores - 1}`, process.pid);
    for (const { running } of services) await running.kill("SIGTERM");
    for (const folder of folders) await folder.remove();
  }
}

async function comparePlans(one: Service, four: Service, connections: number): Promise<Row> {
  const [bare, ours]: [Measured[], Measured[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    bare.push(await measure(one, connections, "0-1"));
    ours.push(await measure(four, connections, "0-1"));
  }
  const what = `two cores, ${connections} connections, 4 processes, bare: 1`;
  print(what, ours, bare);
  return rowOf(what, ours, bare, 0.9);
}

async function compareCores(service: Service): Promise<Row> {
  const [bare, ours]: [Measured[], Measured[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    bare.push(await measure(service, 1000, "0"));
    ours.push(await measure(service, 1000, "0-1"));
  }
  const what = `${service.name}, 1000 connections, two cores, bare: one`;
  print(what, ours, bare);
  return rowOf(what, ours, bare);
}

async function measure({ folder, running }: Service, connections: number, cores: string): Promise<Measured> {
  const pid = running.process.pid as number;
  pinTo(cores, pid, folder);
  // What it starts stays where it is itself: the devices.
  pinTo(cores, process.pid);
  const port = Number(running.gateway.split(":").at(-1));
  let [program, database] = [0, 0];
  const { perSecond, p99 } = await load({ port }, connections, roundMs, 0, async () => {
    [program, database] = [serviceCpuMs(pid), databaseCpuMs(folder)];
  });
  const perPacket = (ms: number): number => (ms * 1000) / (perSecond * (roundMs / 1000));
  return {
    perSecond,
    p99,
    programUs: perPacket(serviceCpuMs(pid) - program),
    databaseUs: perPacket(databaseCpuMs(folder) - database),
  };
}

function print(what: string, ours: readonly Measured[], bare: readonly Measured[]): void {
  const text = (measured: readonly Measured[]): string => {
    const of = (pick: (one: Measured) => number): string => median(measured.map(pick)).toFixed(0);
    return `${of(({ perSecond }) => perSecond)} packets/s, p99 ${of(({ p99 }) => p99)} ms, CPU ${of(({ programUs }) => programUs)} us of the program and ${of(({ databaseUs }) => databaseUs)} us of the database a packet`;
  };
  console.log(`  ${what}\n    ours: ${text(ours)}\n    bare: ${text(bare)}`);
}

const rowOf = (what: string, ours: readonly Measured[], bare: readonly Measured[], goal?: number): Row => ({
  what,
  ours: median(ours.map(({ perSecond }) => perSecond)),
  bare: median(bare.map(({ perSecond }) => perSecond)),
  unit: "packets/s",
  ratios: ours.map(({ perSecond }, round) => perSecond / (bare[round]?.perSecond as number)),
  ...(goal === undefined ? {} : { goal }),
});
