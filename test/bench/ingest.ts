import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { withEmbedded } from "../support/embedded-client.ts";
import { addIntegrations, registerFleet } from "../support/fleet.ts";
import { startVigil, tempFolder } from "../support/vigil-process.ts";
import { type LoadProtocol, loadFrames } from "./load-frames.ts";
import { median, type Row } from "./report.ts";

/** `--integrations 1` gives the fleet's organization partners that are told everything; `--quick` takes 1,000 devices only. */
const integrations = Number(process.argv[process.argv.indexOf("--integrations") + 1]) || 0;
const isQuick = process.argv.includes("--quick");
const rounds = 3;
const roundMs = 5000;
const script = (name: string): string[] => ["--import", "tsx", join(import.meta.dirname, name)];

interface Loaded {
  perSecond: number;
  p50: number;
  p99: number;
  /** Of the process that plays the devices. */
  cpuMs: number;
}

interface Target {
  port: number;
  pid: number;
}

/** Connects the devices, does something, then runs the load. */
export async function load(
  target: Pick<Target, "port">,
  connections: number,
  durationMs: number,
  rate: number,
  whenConnected: () => Promise<void> = async () => undefined,
  more: readonly (number | string)[] = [],
): Promise<Loaded> {
  const args = [target.port, connections, durationMs, rate, ...more].map(String);
  const child = spawn(process.execPath, [...script("device-load.ts"), ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise((done) => child.once("exit", done));
  if ((await lines.next()).value !== "connected") throw new Error("the devices could not connect");
  await whenConnected();
  child.stdin.write("go\n");
  const { value, done } = await lines.next();
  await ended;
  return done ? { perSecond: 0, p50: 0, p99: 0, cpuMs: 0 } : (JSON.parse(value) as Loaded);
}

export async function startBare(connection: object): Promise<{ child: ChildProcess; target: Target }> {
  const args = [...script("bare-gateway.ts"), JSON.stringify(connection)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise<string>((done) => createInterface({ input: child.stdout }).once("line", done));
  return { child, target: { port: Number(port), pid: child.pid as number } };
}

const residentBytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

/** Bytes of an idle connection: what the process has grown by, a moment after all have connected. */
async function idleBytes(target: Target, connections: number): Promise<number> {
  const before = residentBytes(target.pid);
  let after = before;
  await load(target, connections, 0, 0, async () => {
    await new Promise((resolve) => setTimeout(resolve, 3000));
    after = residentBytes(target.pid);
  });
  return (after - before) / connections;
}

/** Durable packets of the whole pipeline, in a service process, against a bare gateway that copies the same rows. */
export async function benchIngest(): Promise<Row[]> {
  const folder = await tempFolder();
  const service = await startVigil(["--data-dir", folder.path], {
    VIGIL_LOG_LEVEL: process.env.VIGIL_LOG_LEVEL ?? "info",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_GATEWAY_PACKETS_PER_MINUTE: "1000000",
    VIGIL_GATEWAY_NEW_PER_ADDRESS_PER_MINUTE: "1000000",
    VIGIL_INGEST_IN_FLIGHT: process.env.VIGIL_INGEST_IN_FLIGHT,
  });
  const server = await openEmbeddedServer({ dataDir: folder.path, log: makeLogger("silent"), purpose: "command" });
  const rows: Row[] = [];
  const bare = await startBare(server.connection);
  const ours: Target = { port: Number(service.gateway.split(":").at(-1)), pid: service.process.pid as number };
  try {
    await withEmbedded(folder.path, (client) => registerFleet(client, 10_000));
    await withEmbedded(folder.path, (client) => addIntegrations(client, integrations));
    const idle = isQuick
      ? { ours: 0, bare: 0 }
      : { ours: await idleBytes(ours, 10_000), bare: await idleBytes(bare.target, 10_000) };
    for (const connections of isQuick ? [1000] : [1000, 10_000]) {
      const full: Record<"ours" | "bare", number[]> = { ours: [], bare: [] };
      await load(ours, connections, 2000, 0);
      for (let round = 0; round < rounds; round++) {
        full.ours.push((await load(ours, connections, roundMs, 0)).perSecond);
        full.bare.push((await load(bare.target, connections, roundMs, 0)).perSecond);
      }
      rows.push(rowOf(`closed loop, ${connections} connections`, "packets/s", full, 0.4));
      if (isQuick) return rows;
      const rate = Math.round(median(full.ours) / 2);
      const times: Record<"ours" | "bare", number[]> = { ours: [], bare: [] };
      for (let round = 0; round < rounds; round++) {
        times.ours.push((await load(ours, connections, roundMs, rate)).p99);
        times.bare.push((await load(bare.target, connections, roundMs, rate)).p99);
      }
      rows.push(rowOf(`p99 of the answer at ${rate} packets/s, ${connections} connections`, "ms", times));
    }
    for (const [index, protocol] of (["gt06", "teltonika"] as const).entries()) {
      const firstUid = 862_000_000_000_000 + index * 1_000_000;
      const { modelSlug } = loadFrames[protocol];
      await withEmbedded(folder.path, (client) => registerFleet(client, 1000, firstUid, { protocol, modelSlug }));
      rows.push(await otherProtocol(protocol, ours, bare.target, firstUid));
    }
    rows.push(rowOf("memory of an idle connection, of 10000", "bytes", { ours: [idle.ours], bare: [idle.bare] }));
    return rows;
  } finally {
    bare.child.kill();
    await service.kill("SIGTERM");
    await server.release();
    await folder.remove();
  }
}

/** Fixes of another protocol against those that the bare gateway stores of watches: the rows are the same. */
async function otherProtocol(protocol: LoadProtocol, ours: Target, bare: Target, firstUid: number): Promise<Row> {
  const connections = 1000;
  const { fixesPerFrame } = loadFrames[protocol];
  const full: Record<"ours" | "bare", number[]> = { ours: [], bare: [] };
  const own = [firstUid, "--protocol", protocol];
  await load(ours, connections, 2000, 0, undefined, own);
  for (let round = 0; round < rounds; round++) {
    const { perSecond } = await load(ours, connections, roundMs, 0, undefined, own);
    full.ours.push(perSecond * fixesPerFrame);
    full.bare.push((await load(bare, connections, roundMs, 0)).perSecond);
  }
  return rowOf(`${protocol}, ${fixesPerFrame} in a frame, ${connections} connections`, "fixes/s", full);
}

const rowOf = (what: string, unit: string, values: Record<"ours" | "bare", number[]>, goal?: number): Row => ({
  what,
  ours: median(values.ours),
  bare: median(values.bare),
  unit,
  ratios: values.ours.map((value, index) => value / (values.bare[index] as number)),
  ...(goal === undefined ? {} : { goal }),
});
