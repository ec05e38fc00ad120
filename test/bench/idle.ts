import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { serviceChildren } from "../support/child-pids.ts";
import { withEmbedded } from "../support/embedded-client.ts";
import { iwLogin, iwSos, registerFleet } from "../support/fleet.ts";
import { type RunningVigil, startVigil, tempFolder } from "../support/vigil-process.ts";
import { loadFrames } from "./load-frames.ts";
import { serviceCpuMs } from "./process-cpu.ts";
import { median, type Row } from "./report.ts";

const optionOf = (name: string, fallback: number): number => {
  const at = process.argv.indexOf(name);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
};

/** `--devices 100000`: so many open files must be allowed (`ulimit -n`), and some more, or be shared by `--processes 6`. */
const wanted = optionOf("--devices", 10_000);
const gateways = optionOf("--processes", 1);
/** Teltonika over UDP, where a device needs no file of the service. Each says once a minute that it is there, with one byte. */
const isUdp = process.argv.includes("--udp");
/** Each process of devices has an address of its own, which has ports for so many. */
const devicesPerAddress = 10_000;
const firstUid = 860_000_000_000_000;
const sosUid = "869900000000001";
/** Files of the service beside the connections of devices. */
const otherFiles = 300;
const restMs = 30_000;
const { modelSlug } = loadFrames.teltonika;
const calls = 100;

/** Collects garbage when told to, and writes what is left. */
const hook = `process.on("SIGUSR2", () => {
  globalThis.gc();
  process.stderr.write("MEMORY " + JSON.stringify(process.memoryUsage()) + "\\n");
})`;

interface Memory {
  resident: number;
  heap: number;
}

/**
 * Devices that have logged in and say nothing: memory of each, CPU of all at rest, and how long an SOS of one more device waits
 * for its answer meanwhile. Prints; compares nothing.
 */
export async function benchIdle(): Promise<Row[]> {
  const folder = await tempFolder();
  const service = await startVigil(
    ["--data-dir", folder.path, ...(gateways > 1 ? ["--roles", "gateway", "--processes", String(gateways)] : [])],
    {
      VIGIL_LOG_LEVEL: "warn",
      VIGIL_GATEWAY_HOST: "127.0.0.1",
      // Several processes divide it, and the kernel does not give each of them as many connections.
      VIGIL_GATEWAY_MAX_CONNECTIONS: String(Math.ceil(wanted * 1.2) + 1000),
      VIGIL_GATEWAY_NEW_PER_ADDRESS_PER_MINUTE: "1000000",
    },
    "start",
    ["--expose-gc", "--import", `data:text/javascript,${encodeURIComponent(hook)}`],
  );
  const server = await openEmbeddedServer({ dataDir: folder.path, log: makeLogger("silent"), purpose: "command" });
  const fleets: ChildProcess[] = [];
  try {
    const pid = service.process.pid as number;
    const maxFiles = Number(/^Max open files +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, "utf8"))?.[1]);
    const devices = isUdp ? wanted : Math.min(wanted, (maxFiles - otherFiles) * gateways);
    if (devices < wanted) console.log(`  a process may open ${maxFiles} files here: ${devices} devices`);
    await withEmbedded(folder.path, async (client) => {
      await registerFleet(client, devices, firstUid, isUdp ? { protocol: "teltonika", modelSlug } : {});
      await registerFleet(client, 1, Number(sosUid));
    });
    const port = Number(service.gateway.split(":").at(-1));
    const caller = await logIn(port, sosUid);
    await call(caller, 20);
    printTimes("with no other device", await call(caller, calls), await longestDelayMs(service));
    const before = await memoryOf(service);
    const startedMs = performance.now();
    const cpuBefore = serviceCpuMs(pid);
    for (let start = 0; start < devices; start += devicesPerAddress) {
      const size = Math.min(devicesPerAddress, devices - start);
      fleets.push(await connectFleet(port, size, firstUid + start, `127.0.0.${2 + fleets.length}`));
    }
    const seconds = (performance.now() - startedMs) / 1000;
    const login = (serviceCpuMs(pid) - cpuBefore) / devices;
    console.log(
      `  ${devices} devices logged in within ${seconds.toFixed(1)} s, ${login.toFixed(2)} ms CPU of the program each`,
    );
    const each = (bytes: number): string => String(Math.round(bytes / devices));
    await wait(3000);
    console.log(`  resident after 3 s: ${each(residentBytes(pid) - before.resident)} bytes each`);
    await longestDelayMs(service);
    const cpuAtRest = serviceCpuMs(pid);
    await wait(restMs);
    const share = (serviceCpuMs(pid) - cpuAtRest) / restMs;
    const delay = await longestDelayMs(service);
    console.log(
      `  at rest: ${(share * 100).toFixed(1)} % of a core, longest delay of the event loop ${delay.toFixed(1)} ms`,
    );
    printTimes("beside them", await call(caller, calls), await longestDelayMs(service));
    const resident = residentBytes(pid);
    console.log(
      `  resident after ${restMs / 1000} s more: ${each(resident - before.resident)} bytes each, ${Math.round(resident / 1e6)} MB in all; ${await connectedDevices(service)} devices are connected`,
    );
    if (gateways > 1) return [];
    const after = await memoryOf(service);
    console.log(
      `  after a collection: ${each(after.resident - before.resident)} bytes each resident, ${each(after.heap - before.heap)} of them heap, ${Math.round(after.resident / 1e6)} MB in all`,
    );
    return [];
  } finally {
    for (const fleet of fleets) fleet.kill("SIGKILL");
    await service.kill("SIGTERM");
    await server.release();
    await folder.remove();
  }
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const ownResidentBytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

/** Of all processes of the service; what they share counts in each. */
const residentBytes = (pid: number): number =>
  [pid, ...serviceChildren(pid)].reduce((sum, one) => sum + ownResidentBytes(one), 0);

async function memoryOf(service: RunningVigil): Promise<Memory> {
  // Its processes do not listen.
  if (gateways > 1) return { resident: residentBytes(service.process.pid as number), heap: 0 };
  const known = (): RegExpMatchArray[] => [...service.stderr().matchAll(/^MEMORY (.*)$/gm)];
  const count = known().length;
  service.process.kill("SIGUSR2");
  while (known().length === count) await wait(50);
  const { heapUsed } = JSON.parse(known().at(-1)?.[1] as string) as NodeJS.MemoryUsage;
  return { resident: residentBytes(service.process.pid as number), heap: heapUsed };
}

/** Since the last look. */
async function longestDelayMs({ ops }: RunningVigil): Promise<number> {
  return (await metricOf(ops, "vigil_event_loop_delay_seconds")) * 1000;
}

/** Without the one that calls for help. */
const connectedDevices = async ({ ops }: RunningVigil): Promise<number> =>
  (await metricOf(ops, "vigil_gateway_devices")) - 1;

async function metricOf(ops: string, name: string): Promise<number> {
  const text = await (await fetch(`${ops}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

async function connectFleet(port: number, devices: number, uid: number, address: string): Promise<ChildProcess> {
  const args = ["--import", "tsx", join(import.meta.dirname, "idle-devices.ts")];
  const child = spawn(
    process.execPath,
    [...args, ...[port, devices, uid, address, isUdp ? "udp" : "tcp"].map(String)],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const first = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  if (first.value !== "connected") throw new Error("the devices could not connect");
  return child;
}

const nextAnswer = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once("data", resolve));

async function logIn(port: number, uid: string): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  socket.write(iwLogin(uid));
  await nextAnswer(socket);
  return socket;
}

/** Times from an SOS to its answer, one after the other. */
async function call(socket: Socket, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const startedMs = performance.now();
    const answer = nextAnswer(socket);
    socket.write(iwSos(Date.now()));
    await answer;
    times.push(performance.now() - startedMs);
    await wait(73);
  }
  return times;
}

function printTimes(when: string, times: readonly number[], delayMs: number): void {
  const figures = [median(times), Math.max(...times), delayMs].map((ms) => ms.toFixed(1));
  console.log(
    `  an SOS ${when}: answered in ${figures[0]} ms (median), ${figures[1]} ms at most; delay of the event loop ${figures[2]} ms at most`,
  );
}
