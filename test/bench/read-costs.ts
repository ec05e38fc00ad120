import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { cpuByRoom } from "./cpu-by-room.ts";
import { cpuMs, databaseCpuMs } from "./process-cpu.ts";
import { databaseReads, loadReads, openReadWorld, type ReadWorld } from "./read-world.ts";
import type { Row } from "./report.ts";

const roundMs = process.argv.includes("--quick") ? 500 : 2000;
const { values: options } = parseArgs({
  options: {
    /** Keeps the profile of the service in this folder. */
    profiles: { type: "string" },
    /** Only the reads whose name has this in it. */
    only: { type: "string", default: "" },
  },
  strict: false,
});

/**
 * What a read costs on both sides of the database socket, of ours and of the bare route, and how many statements it sends. With
 * `--profiles` also where the service spends its time. Prints tables for docs/developers/performance.md; compares nothing.
 */
export async function benchReadCosts(): Promise<Row[]> {
  const profiles = options.profiles as string | undefined;
  if (profiles) mkdirSync(profiles, { recursive: true });
  const known = new Set(profiles ? readdirSync(profiles) : []);
  const flags = profiles ? ["--cpu-prof", `--cpu-prof-dir=${profiles}`] : [];
  const settings = { shared_preload_libraries: "pg_stat_statements" };
  const world = await openReadWorld(flags, settings);
  const measured: [string, Cost][] = [];
  const client = new Client({ connectionString: world.databaseUrl });
  try {
    await client.connect();
    await client.query("create extension pg_stat_statements");
    console.log("us of CPU a read: program, database; statements a read and their us");
    for (const { what, path, barePath } of databaseReads) {
      if (!what.includes(options.only as string)) continue;
      const { http, bare, pid } = world;
      const ours = await costOf(world, client, http + path, pid);
      const limit = await costOf(world, client, bare.address + barePath, bare.pid);
      console.log(`  ${what}\n    ours ${ours.text}\n    bare ${limit.text}`);
      measured.push([what, ours]);
    }
  } finally {
    await client.end();
    await world.close();
  }
  const profile = profiles && readdirSync(profiles).find((name) => name.endsWith(".cpuprofile") && !known.has(name));
  if (profile) {
    console.log("parts of the program's CPU, us a read");
    for (const [what, cost] of measured) console.log(`  ${what}: ${partsOf(join(profiles, profile), cost)}`);
  }
  return [];
}

interface Cost {
  text: string;
  programUs: number;
  span: { fromUs: number; toUs: number };
}

/** The first that fits counts. Compiled serializers and rows have names of functions instead of files. */
const parts: readonly [string, RegExp][] = [
  ["records and lists", /^src\/resources/],
  ["driver and rows", /^(src\/db|pg|pg-.*|postgres-.*|node buffer|utf8Slice|)$/],
  ["serializer", /^(fast-json-stringify|anonymous.*)$/],
  ["gates, limits, headers", /^src\/(http|oauth|lib|)/],
  ["framework and HTTP", /^(fastify|find-my-way|avvio|node _http.*|RegExp.*)$/],
  ["sockets", /^(writev|writeBuffer|write.*String|node (net|internal\/(stream|streams).*|internal\/stream_base.*))$/],
  ["garbage collection", /collector/],
];

function partsOf(file: string, { span, programUs }: Cost): string {
  const sums = new Map<string, number>([...parts.map(([name]): [string, number] => [name, 0]), ["rest", 0]]);
  for (const [room, share] of cpuByRoom(file, span)) {
    const part = parts.find(([, pattern]) => pattern.test(room))?.[0] ?? "rest";
    sums.set(part, (sums.get(part) ?? 0) + share * programUs);
  }
  return [...sums].map(([name, us]) => `${name} ${us.toFixed(0)}`).join(", ");
}

const nowUs = (): number => Number(process.hrtime.bigint() / 1000n);

async function costOf({ dataDir, authorization }: ReadWorld, client: Client, url: string, pid: number): Promise<Cost> {
  const { origin, pathname, search } = new URL(url);
  const load = (): Promise<number> => loadReads(origin, pathname + search, authorization, roundMs);
  await load();
  await client.query("select pg_stat_statements_reset()");
  const [own, database, fromUs] = [cpuMs(pid), databaseCpuMs(dataDir), nowUs()];
  const perSecond = await load();
  const reads = (perSecond * roundMs) / 1000;
  const perRead = (ms: number): string => ((ms * 1000) / reads).toFixed(0);
  const [program, server, toUs] = [cpuMs(pid) - own, databaseCpuMs(dataDir) - database, nowUs()];
  const { rows } = await client.query<{ calls: number; ms: number }>(
    `select calls::int, total_exec_time as ms from pg_stat_statements where calls > $1 order by calls desc`,
    [Math.ceil(reads / 10)],
  );
  const statements = rows.map(
    ({ calls, ms }) => `${(calls / reads).toFixed(2)} of ${((ms * 1000) / calls).toFixed(0)}`,
  );
  const text = `${perRead(program)}, ${perRead(server)}; ${statements.join(", ")}; ${perSecond.toFixed(0)} reads/s`;
  return { text, programUs: (program * 1000) / reads, span: { fromUs, toUs } };
}
