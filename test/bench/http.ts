import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Client } from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { embeddedUrl } from "../support/embedded-client.ts";
import { fillOrganization } from "../support/large-organization.ts";
import { type Credentials, fetchTokenOf, startVigil, tempFolder, vigilJson } from "../support/vigil-process.ts";
import { median, type Row } from "./report.ts";

const rounds = 5;
const roundMs = 3000;
const connections = 32;
const script = (name: string): string[] => ["--import", "tsx", join(import.meta.dirname, name)];

export async function loadReads(
  address: string,
  path: string,
  authorization: string,
  durationMs = roundMs,
): Promise<number> {
  const { hostname, port } = new URL(address);
  const args = [hostname, port, path, authorization, String(connections), String(durationMs)];
  const { stdout } = await promisify(execFile)(process.execPath, [...script("load.ts"), ...args]);
  const { perSecond, failed } = JSON.parse(stdout) as { perSecond: number; failed: number };
  if (failed > 0) throw new Error(`${failed} calls of ${path} failed`);
  return perSecond;
}

async function startBare(name: string, args: readonly string[]): Promise<{ address: string; stop(): void }> {
  const child = spawn(process.execPath, [...script(name), ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise<string>((done) => createInterface({ input: child.stdout }).once("line", done));
  return { address: `http://127.0.0.1:${port}`, stop: () => child.kill() };
}

interface Read {
  what: string;
  path: string;
  barePath: string;
  goal: number;
}

/** Ours and the bare server in turns. */
async function compare(http: string, authorization: string, bare: string, read: Read): Promise<Row> {
  const { what, path, barePath, goal } = read;
  const [ours, limit]: [number[], number[]] = [[], []];
  await loadReads(http, path, authorization);
  await loadReads(bare, barePath, authorization);
  for (let round = 0; round < rounds; round++) {
    ours.push(await loadReads(http, path, authorization));
    limit.push(await loadReads(bare, barePath, authorization));
  }
  return {
    what,
    ours: median(ours),
    bare: median(limit),
    unit: "requests/s",
    ratios: ours.map((value, index) => value / (limit[index] as number)),
    goal,
  };
}

const devices = 1000;

/**
 * API reads with token, rate limit and request id: answers from memory against a route that returns the same bytes, and devices
 * against a route with prepared and pipelined statements.
 */
export async function benchHttp(): Promise<Row[]> {
  const folder = await tempFolder();
  const server = await openEmbeddedServer({ dataDir: folder.path, log: makeLogger("silent"), purpose: "command" });
  const url = embeddedUrl(server.connection);
  const env = { DATABASE_URL: url, VIGIL_LOG_LEVEL: process.env.VIGIL_LOG_LEVEL ?? "info" };
  const where = ["--data-dir", folder.path];
  const service = await startVigil(where, env);
  const { http } = service;
  try {
    const limits = ["--per-minute", "1000000000", "--per-hour", "1000000000"];
    const organization = ["org", "create", "--name", "Bench", "--slug", "bench", ...limits, ...where];
    const { id } = await vigilJson<{ id: string }>(organization, env);
    const integration = ["integration", "create", "--org", "bench", "--name", "Bench", ...where];
    const credentials = await vigilJson<Credentials>(integration, env);
    const authorization = `Bearer ${await fetchTokenOf(http, credentials)}`;
    const rows: Row[] = [];
    for (const path of ["/api/v1/organizations/self/", "/api/v1/models/"]) {
      const body = await (await fetch(http + path, { headers: { authorization } })).text();
      const bare = await startBare("bare-server.ts", [body]);
      const what = `GET ${path} (${body.length} bytes)`;
      rows.push(await compare(http, authorization, bare.address, { what, path, barePath: "/", goal: 0.6 }));
      bare.stop();
    }
    const db = new Client({ connectionString: url });
    await db.connect();
    await fillOrganization(db, id, devices, 0);
    await db.query("vacuum analyze");
    await db.end();
    const uid = "350000000000007";
    const bare = await startBare("bare-reads.ts", [url, id, uid]);
    const list = { path: "/api/v1/devices/?page_size=20", barePath: "/list" };
    const one = { path: `/api/v1/devices/${uid}/`, barePath: "/one" };
    for (const read of [
      { what: `20 of ${devices} devices`, ...list, goal: 0.5 },
      { what: "one device", ...one, goal: 0.5 },
    ]) {
      rows.push(await compare(http, authorization, bare.address, read));
    }
    bare.stop();
    return rows;
  } finally {
    await service.kill("SIGTERM");
    await server.release();
    await folder.remove();
  }
}
