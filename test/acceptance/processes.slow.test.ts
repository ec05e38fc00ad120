import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { NumberedDevice } from "../faults/numbered-device.ts";
import { iwMembers, membersOver, registerMembers, startNumbered } from "../faults/numbered-fleet.ts";
import { verifyPackets } from "../faults/packet-verdict.ts";
import { isRunning, serviceChildren } from "../support/child-pids.ts";
import { withEmbedded } from "../support/embedded-client.ts";
import { registerFleet } from "../support/fleet.ts";
import { freeLowPort } from "../support/free-port.ts";
import { SosWatch } from "../support/sos-watch.ts";
import {
  type Credentials,
  fetchTokenOf,
  makeCredentials,
  type RunningVigil,
  runVigil,
  startVigil,
  tempFolder,
  vigilJson,
} from "../support/vigil-process.ts";

const patience = { timeout: 150_000, interval: 100 };
const env = { VIGIL_GATEWAY_HOST: "127.0.0.1", VIGIL_GATEWAY_PACKETS_PER_MINUTE: "1000000" };

let folder: Awaited<ReturnType<typeof tempFolder>>;
let service: RunningVigil | undefined;
let devices: { close(): void }[] = [];

beforeAll(async () => {
  folder = await tempFolder();
});
afterEach(async () => {
  for (const device of devices.splice(0)) device.close();
  await service?.kill("SIGKILL");
});
afterAll(() => folder.remove());

const start = async (...args: string[]): Promise<RunningVigil> => {
  service = await startVigil(["--data-dir", folder.path, ...args], env);
  return service;
};

const portOf = ({ gateway }: RunningVigil): number => Number(gateway.split(":")[1]);

async function metric(running: RunningVigil, series: string): Promise<number> {
  const text = await (await fetch(`${running.ops}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1));
}

const isReady = async (running: RunningVigil): Promise<boolean> =>
  (await fetch(`${running.ops}/readyz`)).status === 200;

describe("a service in several processes", () => {
  it("takes calls for help, shows one set of metrics, and ends with all its processes", async () => {
    const running = await start("--processes", "4");
    expect(serviceChildren(running.process.pid)).toHaveLength(4);
    const uids = await withEmbedded(folder.path, (client) => registerFleet(client, 20));
    const watches = uids.map((uid) => new SosWatch(portOf(running), "127.0.0.1", uid));
    devices = watches;
    await Promise.all(watches.map((watch) => watch.loggedIn()));
    for (const watch of watches) watch.callForHelp();
    await vi.waitFor(() => expect(watches.every(({ times }) => times.length === 1)).toBe(true), patience);
    const { rows } = await withEmbedded(folder.path, (client) =>
      client.query("select count(*)::int as events from events where event_type = 10"),
    );
    expect(rows).toEqual([{ events: 20 }]);

    expect(await isReady(running)).toBe(true);
    expect(await metric(running, 'vigil_processes{state="ready"}')).toBe(4);
    expect(await metric(running, "vigil_gateway_devices")).toBe(20);
    expect(await metric(running, "vigil_ingest_packets_total")).toBeGreaterThanOrEqual(40);
    expect((await fetch(`${running.ops}/healthz`)).status).toBe(200);
    const token = await fetchTokenOf(running.http, await makeCredentials(["--data-dir", folder.path]));
    const answer = await fetch(`${running.http}/api/v1/devices/`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);

    const children = serviceChildren(running.process.pid);
    expect(await running.kill("SIGTERM")).toBe(0);
    expect(children.filter(isRunning)).toEqual([]);
    expect(existsSync(join(folder.path, "postgres", "cluster", "postmaster.pid"))).toBe(false);
    const lines = running
      .stderr()
      .trim()
      .split("\n")
      .filter((line) => line.startsWith("{"));
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
    expect(running.stderr()).toContain('"process":"api-1"');
    expect(running.stderr()).not.toContain('"level":50');
  });

  it("loses nothing that it acknowledged when its processes are killed, and starts them again", {
    timeout: 600_000,
  }, async () => {
    const running = await start("--processes", "4", "--gateway-port", await freeLowPort());
    const [watches, udp] = [iwMembers(30, 1), membersOver("udp", 10, 100)];
    await withEmbedded(folder.path, (client) => registerMembers(client, [...watches, ...udp]));
    const baseMs = Math.floor(Date.now() / 1000) * 1000 - 20 * 86_400_000;
    const options = { port: portOf(running), baseMs, random: Math.random };
    const fleet: NumberedDevice[] = [
      ...startNumbered(watches, "tcp", true, options),
      ...startNumbered(udp, "udp", true, options),
    ];
    devices = fleet;
    const total = (): number => fleet.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
    for (let round = 0; round < 3; round++) {
      const before = total();
      await vi.waitFor(() => expect(total()).toBeGreaterThan(before + 100), patience);
      const children = serviceChildren(running.process.pid);
      process.kill(children[round % children.length] as number, "SIGKILL");
      await vi.waitFor(() => {
        const now = serviceChildren(running.process.pid);
        expect(now).toHaveLength(4);
        expect(now).not.toEqual(children);
      }, patience);
      expect(running.process.exitCode, running.stderr().slice(-2000)).toBeNull();
      await vi.waitFor(async () => expect(await isReady(running)).toBe(true), patience);
    }
    const after = total();
    await vi.waitFor(() => expect(total()).toBeGreaterThan(after + 100), patience);
    for (const device of fleet) device.stop();
    await vi.waitFor(() => expect(fleet.every(({ isIdle }) => isIdle)).toBe(true), patience);
    expect(await metric(running, "vigil_process_restarts_total")).toBe(3);
    expect(await withEmbedded(folder.path, (client) => verifyPackets(client, fleet))).toEqual({ lost: 0, doubled: 0 });
    for (const kind of ["tcp", "udp"]) {
      const heard = fleet.filter(({ transport, acknowledged }) => transport === kind && acknowledged.size > 0);
      expect(heard.length).toBeGreaterThan(0);
    }
    expect(await running.kill("SIGTERM")).toBe(0);
  });

  it("never gives a partner more than its quota", async () => {
    const running = await start("--processes", "3", "--roles", "api");
    expect(running.gateway).toBe("off");
    const where = ["--data-dir", folder.path];
    await vigilJson(["org", "create", "--name", "Small", "--slug", "small", "--per-minute", "40", ...where]);
    const credentials = await vigilJson<Credentials>([
      "integration",
      "create",
      "--org",
      "small",
      "--name",
      "App",
      ...where,
    ]);
    const token = await fetchTokenOf(running.http, credentials);
    const call = async (): Promise<number> => {
      // A connection of its own: they are dealt out to the processes in turn.
      const headers = { authorization: `Bearer ${token}`, connection: "close" };
      const answer = await fetch(`${running.http}/api/v1/protocols/iw/`, { headers });
      await answer.text();
      return answer.status;
    };
    const answers = await Promise.all(Array.from({ length: 120 }, call));
    expect(answers.filter((status) => status === 200)).toHaveLength(40);
    expect(answers.filter((status) => status === 429)).toHaveLength(80);
  });

  it("leaves no process behind when its supervisor is killed", async () => {
    const running = await start("--processes", "3");
    const children = serviceChildren(running.process.pid);
    expect(children).toHaveLength(3);
    await running.kill("SIGKILL");
    await vi.waitFor(() => expect(children.filter(isRunning)).toEqual([]), patience);
    await vi.waitFor(
      () => expect(existsSync(join(folder.path, "postgres", "cluster", "postmaster.pid"))).toBe(false),
      patience,
    );
  });

  it("does not start when one of its processes cannot, and says why in one line", async () => {
    const server = createServer();
    const port = await new Promise<number>((done) => {
      server.listen(0, "127.0.0.1", () => done((server.address() as { port: number }).port));
    });
    const args = ["start", "--processes", "3", "--data-dir", folder.path, "--port", String(port)];
    const { code, stdout, stderr } = await runVigil([...args, "--gateway-port", "0", "--ops-port", "0"], env);
    server.close();
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`vigil: port ${port} is in use`);
    expect((await runVigil(["start", "--processes", "none"], env)).code).toBe(2);
  });
});
