import { hostname } from "node:os";
import type { ProcessFigures } from "../console/operator/process-store.ts";
import { removeProcess, renewProcess } from "../console/operator/process-store.ts";
import type { Database } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import { repeat } from "../lib/lifecycle.ts";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";

const renewEveryMs = 5000;
const leaseMs = 3 * renewEveryMs;

export interface ProcessRegistryOptions {
  id: string;
  db: Database;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  version: string;
  roles: readonly string[];
}

type Totals = Record<"frames" | "packets" | "commits" | "commitSeconds" | "attempts", ReadonlyMap<string, number>>;

/** Says to operators that this process lives, and what it does. Returns how to end it; the row is removed then. */
export function registerProcess(options: ProcessRegistryOptions): () => Promise<void> {
  const { id, db, clock, log, metrics, version, roles } = options;
  const startedAt = clock.now();
  let before: { totals: Totals; atMs: number } | undefined;
  const stop = repeat("process registry", renewEveryMs, log, async () => {
    const now = clock.now();
    const atMs = performance.now();
    const totals = readTotals(metrics);
    const figures = figuresOf(metrics, totals, before, atMs);
    before = { totals, atMs };
    await renewProcess(db, {
      id,
      host: hostname(),
      pid: process.pid,
      version,
      roles: [...roles],
      started_at: startedAt,
      seen_at: now,
      lease_until: new Date(now.getTime() + leaseMs),
      figures,
    });
  });
  return async () => {
    await stop();
    await removeProcess(db, id).catch(() => undefined);
  };
}

const readTotals = (metrics: Metrics): Totals => ({
  frames: metrics.read("vigil_gateway_frames_total"),
  packets: metrics.read("vigil_ingest_packets_total"),
  commits: metrics.read("vigil_ingest_commit_seconds_count"),
  commitSeconds: metrics.read("vigil_ingest_commit_seconds_sum"),
  attempts: metrics.read("vigil_webhook_attempts_total"),
});

const sum = (values: ReadonlyMap<string, number>): number => [...values.values()].reduce((all, one) => all + one, 0);

/** Rates are of the time since the last look; at the first there is none. */
export function figuresOf(
  metrics: Metrics,
  totals: Totals,
  before: { totals: Totals; atMs: number } | undefined,
  atMs: number,
): ProcessFigures {
  const seconds = before ? Math.max(0.001, (atMs - before.atMs) / 1000) : undefined;
  const grown = (name: keyof Totals): number => (before ? sum(totals[name]) - sum(before.totals[name]) : 0);
  const rate = (amount: number): number => (seconds === undefined ? 0 : Math.round((amount / seconds) * 10) / 10);
  const gauge = (name: string): number => sum(metrics.read(name));
  const figures: ProcessFigures = { memory_bytes: process.memoryUsage.rss() };
  if (metrics.read("vigil_gateway_connections").size > 0) {
    const rates = [...totals.frames].map(([labels, count]) => {
      const protocol = /protocol="([^"]*)"/.exec(labels)?.[1] ?? "";
      return [protocol, rate(count - (before?.totals.frames.get(labels) ?? count))] as const;
    });
    figures.gateway = {
      connections: gauge("vigil_gateway_connections"),
      devices: gauge("vigil_gateway_devices"),
      unlogged: gauge("vigil_gateway_unlogged_connections"),
      is_paused: gauge("vigil_gateway_paused") > 0,
      frames_per_second: Object.fromEntries(rates.filter(([, one]) => one > 0)),
    };
  }
  if (metrics.read("vigil_ingest_queue_packets").size > 0) {
    const commits = grown("commits");
    figures.ingest = {
      packets_per_second: rate(grown("packets")),
      queue_packets: gauge("vigil_ingest_queue_packets"),
      queue_bytes: gauge("vigil_ingest_queue_bytes"),
      commit_ms: commits > 0 ? Math.round((grown("commitSeconds") / commits) * 10_000) / 10 : null,
    };
  }
  if (metrics.read("vigil_webhook_lanes").size > 0) {
    figures.webhooks = {
      lanes: gauge("vigil_webhook_lanes"),
      in_flight: gauge("vigil_webhook_in_flight"),
      attempts_per_second: rate(grown("attempts")),
    };
  }
  return figures;
}
