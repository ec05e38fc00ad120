import { writeFile } from "node:fs/promises";
import { arch, availableParallelism, freemem, platform, release, totalmem } from "node:os";
import type { Config } from "../config.ts";
import type { Db } from "../db/database.ts";
import { type Check, hasEmbeddedDatabase } from "../roles/doctor-checks.ts";
import { type CommandContext, CommandError } from "./command.ts";
import { withBareDatabase } from "./command-database.ts";

/**
 * What a supporter needs to know of an installation, as a JSON file that its operator can read before sending it. It holds no
 * rows, names, addresses, URLs, paths or secrets: texts are left out unless they are listed here.
 */
export interface SupportBundle {
  made_at: string;
  version: string;
  machine: Record<string, string | number>;
  settings: Record<string, unknown>;
  checks: { name: string; ok: boolean; detail?: string }[];
  tables: TableSize[];
  /** As the running service shows them; null when none answers on the ops port. */
  metrics: string | null;
}

interface TableSize {
  table: string;
  rows: number;
  bytes: number;
}

const shownTexts = new Set<string>(["host", "gatewayHost", "logLevel"] satisfies (keyof Config)[]);
const shownLists = new Set<string>(["roles", "gatewayPorts", "webhookBackoffSeconds"] satisfies (keyof Config)[]);
/** Checks whose words come from the program and the machine alone. */
const shownDetails = new Set([
  "node",
  "disk_space",
  "disk_speed",
  "memory",
  "open_files",
  "migrations",
  "http_port",
  "gateway_port",
  "gateway_udp_port",
  "ops_port",
  "clock",
  "retention",
  "speech",
]);

/** A setting that is not listed says only whether it is set, so that a new one is hidden until somebody decides. */
export function describeSettings(config: Config): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [name, describeSetting(name, value)]));
}

function describeSetting(name: string, value: unknown): unknown {
  if (value === undefined || value === "") return "not set";
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value === "string") return shownTexts.has(name) ? value : "set";
  if (Array.isArray(value)) return shownLists.has(name) ? value : `${value.length} values`;
  return "set";
}

export const withoutDetails = (checks: readonly Check[]): SupportBundle["checks"] =>
  checks.map(({ name, ok, detail }) => ({ name, ok, ...(shownDetails.has(name) ? { detail } : {}) }));

/** Estimates of the planner: counting would read every row. */
const listTableSizes = (db: Db): Promise<TableSize[]> =>
  db.many<TableSize>`
    select c.relname as "table", greatest(c.reltuples, 0)::int8 as rows, pg_total_relation_size(c.oid) as bytes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema() and c.relkind = 'r' order by c.relname`;

async function readMetrics({ opsPort }: Config): Promise<string | null> {
  try {
    const answer = await fetch(`http://127.0.0.1:${opsPort}/metrics`, { signal: AbortSignal.timeout(5000) });
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}

/** Never over a file that exists. */
export async function writeSupportBundle(
  context: CommandContext,
  file: string,
  version: string,
  checks: readonly Check[],
): Promise<void> {
  const { config } = context;
  const isReachable = checks.some(({ name, ok }) => name === "database" && ok);
  const hasDatabase = isReachable && (config.databaseUrl !== undefined || hasEmbeddedDatabase(config));
  const bundle: SupportBundle = {
    made_at: new Date().toISOString(),
    version,
    machine: {
      node: process.version,
      platform: platform(),
      release: release(),
      arch: arch(),
      cores: availableParallelism(),
      memory_bytes: totalmem(),
      free_memory_bytes: freemem(),
    },
    settings: describeSettings(config),
    checks: withoutDetails(checks),
    tables: hasDatabase ? await withBareDatabase(context, (db) => listTableSizes(db)) : [],
    metrics: await readMetrics(config),
  };
  try {
    await writeFile(file, `${JSON.stringify(bundle, null, 2)}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(
      code === "EEXIST"
        ? `${file} exists: choose another name for --bundle`
        : `${file} cannot be written (${code}): choose another place for --bundle`,
    );
  }
}
