import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freeLowPort } from "./free-port.ts";

export const hasPrometheus = spawnSync("prometheus", ["--version"]).status === 0;

export interface Prometheus {
  /** How many series an expression has now. */
  count(expression: string): Promise<number>;
  close(): Promise<void>;
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** A real Prometheus that scrapes one target every second, with rules or without. */
export async function startPrometheus(target: string, rulesFile: string): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), "vigil-prometheus-"));
  const config = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: [rulesFile],
    scrape_configs: [{ job_name: "vigil", static_configs: [{ targets: [target] }] }],
  };
  // JSON is YAML.
  await writeFile(join(folder, "prometheus.yaml"), JSON.stringify(config));
  const address = `127.0.0.1:${await freeLowPort()}`;
  const child: ChildProcess = spawn(
    "prometheus",
    [
      `--config.file=${join(folder, "prometheus.yaml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=${address}`,
      "--log.level=error",
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  child.stderr?.on("data", (chunk) => {
    said += chunk;
  });
  const ended = new Promise<void>((done) => child.on("exit", () => done()));
  const isReady = async (): Promise<boolean> =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (let waits = 0; !(await isReady()); waits++) {
    if (waits > 150 || child.exitCode !== null) throw new Error(`prometheus did not start: ${said}`);
    await pause(200);
  }
  return {
    count: async (expression) => {
      const answer = await fetch(`http://${address}/api/v1/query?${new URLSearchParams({ query: expression })}`);
      const body = (await answer.json()) as { status: string; error?: string; data?: { result: unknown[] } };
      if (body.status !== "success") throw new Error(`${expression}: ${body.error}`);
      return body.data?.result.length ?? 0;
    },
    close: async () => {
      child.kill("SIGTERM");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
