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
import { type ConnectedDevices, connectDevices, type Loaded } from "./load-process.ts";
import { median, type Row } from "./report.ts";
import { undisturbed } from "./undisturbed.ts";

/** `--integrations 1` gives the fleet's organization partners that are told everything; `--quick` takes 1,000 devices only. */
const integrations = Number(process.argv[process.argv.indexOf("--integrations") + 1]) || 0;
const isQuick = process.argv.includes("--quick");
const rounds = 5;
const roundMs = 4000;
/** Code that a service has only just begun to run is compiled under load, and compiled again when its guesses fail. */
const warmUpMs = 6000;
/** Between the sides: collections of the other process at rest, and what its database writes after the round, are over by then. */
const restMs = 2500;
const sides = ["ours", "bare"] as const;
const script = (name: string): string[] => ["--import", "tsx", join(import.meta.dirname, name)];

interface Target {
  port: number;
  pid: number;
}

export async function startBare(connection: object): Promise<{ child: ChildProcess; target: Target }> {
  const args = [...script("bare-gateway.ts"), JSON.stringify(connection)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise<string>((done) => createInterface({ input: child.stdout }).once("line", done));
  return { child, target: { port: Number(port), pid: child.pid as number } };
}

const residentBytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** V8 gives back what the logins left as garbage some 20 seconds after them (measured); idle devices stay for hours. */
const idleMs = 30_000;

/**
 * Bytes of an idle connection, half a minute after all have connected: what the process at rest has more than without them, before
 * they came or after they have left, whichever is less. What a process needed to start may be given back only after some work.
 */
async function idleBytes(target: Target, connections: number): Promise<number> {
  const atRest = async (): Promise<number> => {
    await rest(idleMs);
    return residentBytes(target.pid);
  };
  const before = await atRest();
  const devices = await connectDevices(target.port, connections);
  const beside = await atRest();
  await devices.close();
  return (beside - Math.min(before, await atRest())) / connections;
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
      rows.push(...(await besideBare(ours, bare.target, connections)));
      if (isQuick) return rows;
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

type Values = Record<"ours" | "bare", number[]>;
const noValues = (): Values => ({ ours: [], bare: [] });

/** Both have their devices connected all the time, so that a round meets nothing of the one before it. */
async function withBoth<T>(
  ours: Target,
  bare: Target,
  connections: number,
  ownArguments: readonly (number | string)[],
  work: (devices: Record<"ours" | "bare", ConnectedDevices>) => Promise<T>,
): Promise<T> {
  const devices = {
    ours: await connectDevices(ours.port, connections, ownArguments),
    bare: await connectDevices(bare.port, connections),
  };
  try {
    // Compiled code, plans and caches are those of a service that has run for a while.
    await devices.ours.run(warmUpMs, 0);
    await devices.bare.run(warmUpMs, 0);
    return await work(devices);
  } finally {
    await devices.ours.close();
    await devices.bare.close();
  }
}

const inTurn = (devices: ConnectedDevices, rate: number): Promise<Loaded> =>
  undisturbed(() => devices.run(roundMs, rate), restMs);

/** How much both take at full load, and how soon they answer at half of ours. */
function besideBare(ours: Target, bare: Target, connections: number): Promise<Row[]> {
  return withBoth(ours, bare, connections, [], async (devices) => {
    const full = noValues();
    for (let round = 0; round < rounds; round++) {
      for (const side of sides) full[side].push((await inTurn(devices[side], 0)).perSecond);
    }
    const rate = Math.round(median(full.ours) / 2);
    // The code of small transactions has yet to be compiled: both answered their first two rounds at this rate half as fast as later ones.
    for (const side of sides) await devices[side].run(warmUpMs, rate);
    const times = noValues();
    for (let round = 0; round < rounds; round++) {
      for (const side of sides) times[side].push((await inTurn(devices[side], rate)).p99);
    }
    return [
      rowOf(`closed loop, ${connections} connections`, "packets/s", full, 0.6),
      rowOf(`p99 of the answer at ${rate} packets/s, ${connections} connections`, "ms", times),
    ];
  });
}

/** Fixes of another protocol against those that the bare gateway stores of watches: the rows are the same. */
function otherProtocol(protocol: LoadProtocol, ours: Target, bare: Target, firstUid: number): Promise<Row> {
  const connections = 1000;
  const { fixesPerFrame } = loadFrames[protocol];
  return withBoth(ours, bare, connections, [firstUid, "--protocol", protocol], async (devices) => {
    const full = noValues();
    for (let round = 0; round < rounds; round++) {
      full.ours.push((await inTurn(devices.ours, 0)).perSecond * fixesPerFrame);
      full.bare.push((await inTurn(devices.bare, 0)).perSecond);
    }
    return rowOf(`${protocol}, ${fixesPerFrame} in a frame, ${connections} connections`, "fixes/s", full);
  });
}

const rowOf = (what: string, unit: string, values: Values, goal?: number): Row => ({
  what,
  ours: median(values.ours),
  bare: median(values.bare),
  unit,
  ratios: values.ours.map((value, index) => value / (values.bare[index] as number)),
  ...(goal === undefined ? {} : { goal }),
});
