import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { makePartner } from "../faults/partner.ts";
import { makeAuthority } from "../support/certificates.ts";
import { type CitusCluster, openCitusCluster } from "../support/citus-cluster.ts";
import { openReceiver } from "../support/receiver.ts";
import { fetchTokenOf, runVigil, startVigil, tempFolder } from "../support/vigil-process.ts";
import { load } from "./load-process.ts";
import { databaseCpuMs } from "./process-cpu.ts";
import type { Row } from "./report.ts";

const devices = 1000;
const loadMs = 10_000;
const reads = 3000;
const readersAtOnce = 8;
const { values: options } = parseArgs({
  options: {
    /** A folder of PostgreSQL programs with Citus. */
    "citus-bin": { type: "string" },
    /** Packets a second. */
    rate: { type: "string", default: "1500" },
    rounds: { type: "string", default: "2" },
  },
  strict: false,
});

/** CPU of all servers of the database, in microseconds. */
interface Costs {
  packet: number;
  delivery: number;
  read: number;
}

/**
 * What a packet, a delivery and a read cost a distributed database (a coordinator and two workers, 8 shards) and one server of the
 * same programs, in turns. The ratio is the cost on the distributed one to the other.
 */
export async function benchSpread(): Promise<Row[]> {
  const bin = options["citus-bin"] as string | undefined;
  if (bin === undefined) throw new Error("--citus-bin FOLDER names PostgreSQL programs with Citus");
  const rounds: { spread: Costs; plain: Costs }[] = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    rounds.push({ plain: await measureOn(bin, true), spread: await measureOn(bin, false) });
  }
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  return (["packet", "delivery", "read"] as const).map((what) => ({
    what: `CPU of the database per ${what}, distributed to one server`,
    unit: "us",
    ours: mean(rounds.map(({ spread }) => spread[what])),
    bare: mean(rounds.map(({ plain }) => plain[what])),
    ratios: rounds.map(({ spread, plain }) => spread[what] / plain[what]),
  }));
}

async function measureOn(bin: string, isPlain: boolean): Promise<Costs> {
  const cluster = await openCitusCluster(bin, { isPlain });
  try {
    return await measure(cluster, isPlain);
  } finally {
    await cluster.close();
  }
}

async function measure(cluster: CitusCluster, isPlain: boolean): Promise<Costs> {
  const folder = await tempFolder();
  const authority = makeAuthority();
  await writeFile(join(folder.path, "ca.pem"), authority.ca);
  const receiver = await openReceiver(authority, { answer: () => 200 });
  const env = {
    DATABASE_URL: cluster.url,
    VIGIL_LOG_LEVEL: "fatal",
    VIGIL_PROCESSES: "1",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_GATEWAY_PACKETS_PER_MINUTE: "1000000",
    VIGIL_GATEWAY_NEW_PER_ADDRESS_PER_MINUTE: "1000000",
    VIGIL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    VIGIL_WEBHOOK_CA_FILE: join(folder.path, "ca.pem"),
  };
  const where = { args: ["--data-dir", folder.path], env };
  const start = (role: string) => startVigil([...where.args, "--roles", role], env);
  const cpuUs = (): number => cluster.nodes.reduce((sum, { dataDir }) => sum + databaseCpuMs(dataDir) * 1000, 0);
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  const migrated = await runVigil(["db", "migrate", ...where.args], env);
  if (migrated.code !== 0) throw new Error(migrated.stderr);
  if (!isPlain) await runVigil(["db", "distribute", "--shards", "8", ...where.args], env);
  const partner = await makePartner(client, where, receiver.port, { path: "/hook", index: 0, devices });
  await client.query("update organizations set per_minute = 1000000, per_hour = 1000000");

  const gateway = await start("gateway");
  const target = { port: Number(gateway.gateway.split(":").at(-1)) };
  await load(target, devices, 3000, Number(options.rate));
  let before = 0;
  const { perSecond } = await load(target, devices, loadMs, Number(options.rate), async () => {
    before = cpuUs();
  });
  const packet = (cpuUs() - before) / ((perSecond * loadMs) / 1000);
  await gateway.kill("SIGTERM");

  before = cpuUs();
  const { count } = (await client.query("select count(*)::int as count from outbound_events")).rows[0];
  const worker = await start("worker");
  while (receiver.calls.length < count) await new Promise((done) => setTimeout(done, 50));
  await worker.kill("SIGTERM");
  const delivery = (cpuUs() - before) / count;

  const api = await start("api");
  const token = await fetchTokenOf(api.http, partner.credentials);
  const read = async (uid: string): Promise<void> => {
    const url = `${api.http}/api/v1/devices/${uid}/locations/?page_size=20`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
    await answer.text();
  };
  const readSome = async (times: number): Promise<void> => {
    let left = times;
    const reader = async (): Promise<void> => {
      while (left-- > 0) await read(partner.uids[left % devices] as string);
    };
    await Promise.all(Array.from({ length: readersAtOnce }, reader));
  };
  await readSome(500);
  before = cpuUs();
  await readSome(reads);
  const perRead = (cpuUs() - before) / reads;
  await api.kill("SIGTERM");
  await client.end();
  await receiver.close();
  await folder.remove();
  const costs = { packet, delivery, read: perRead };
  console.log(`  ${isPlain ? "one server" : "distributed"}: ${JSON.stringify(costs)} us, ${count} deliveries`);
  return costs;
}
