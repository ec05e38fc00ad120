import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { type Credentials, fetchTokenOf, startVigil, tempFolder, vigilJson } from "../support/vigil-process.ts";
import { median, type Row } from "./report.ts";

const rounds = 5;
const roundMs = 3000;
const connections = 32;
const script = (name: string): string[] => ["--import", "tsx", join(import.meta.dirname, name)];

async function load(address: string, path: string, authorization: string): Promise<number> {
  const { hostname, port } = new URL(address);
  const args = [hostname, port, path, authorization, String(connections), String(roundMs)];
  const { stdout } = await promisify(execFile)(process.execPath, [...script("load.ts"), ...args]);
  const { perSecond, failed } = JSON.parse(stdout) as { perSecond: number; failed: number };
  if (failed > 0) throw new Error(`${failed} calls of ${path} failed`);
  return perSecond;
}

async function startBare(body: string): Promise<{ address: string; stop(): void }> {
  const child = spawn(process.execPath, [...script("bare-server.ts"), body], { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise<string>((done) => createInterface({ input: child.stdout }).once("line", done));
  return { address: `http://127.0.0.1:${port}`, stop: () => child.kill() };
}

/** API reads with token, rate limit and request id, against a route that returns the same bytes. */
export async function benchHttp(): Promise<Row[]> {
  const folder = await tempFolder();
  const where = ["--data-dir", folder.path];
  const service = await startVigil(where, { VIGIL_LOG_LEVEL: process.env.VIGIL_LOG_LEVEL ?? "info" });
  try {
    await vigilJson([
      "org",
      "create",
      "--name",
      "Bench",
      "--slug",
      "bench",
      "--per-minute",
      "1000000000",
      "--per-hour",
      "1000000000",
      ...where,
    ]);
    const credentials = await vigilJson<Credentials>([
      "integration",
      "create",
      "--org",
      "bench",
      "--name",
      "Bench",
      ...where,
    ]);
    const authorization = `Bearer ${await fetchTokenOf(service.http, credentials)}`;
    const rows: Row[] = [];
    for (const path of ["/api/v1/organizations/self/", "/api/v1/models/"]) {
      const body = await (await fetch(service.http + path, { headers: { authorization } })).text();
      const bare = await startBare(body);
      const ours: number[] = [];
      const limit: number[] = [];
      await load(service.http, path, authorization);
      for (let round = 0; round < rounds; round++) {
        ours.push(await load(service.http, path, authorization));
        limit.push(await load(bare.address, "/", authorization));
      }
      bare.stop();
      rows.push({
        what: `GET ${path} (${body.length} bytes)`,
        ours: median(ours),
        bare: median(limit),
        unit: "requests/s",
        ratios: ours.map((value, index) => value / (limit[index] as number)),
        goal: 0.5,
      });
    }
    return rows;
  } finally {
    await service.kill("SIGTERM");
    await folder.remove();
  }
}
