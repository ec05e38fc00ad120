import { existsSync, readdirSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { withEmbedded } from "../support/embedded-client.ts";
import { freeLowPort } from "../support/free-port.ts";
import { killVigil, type RunningVigil, runVigil, startVigil, tempFolder, vigilJson } from "../support/vigil-process.ts";
import type { FaultOptions } from "./faults.ts";
import type { NumberedDevice } from "./numbered-device.ts";
import { iwMembers, registerMembers, startNumbered } from "./numbered-fleet.ts";
import { makeRandom } from "./random.ts";

const devices = 60;
/** Of each watch: above the burst that a device may send at once it would take minutes. */
const maxResent = 1000;
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** The times of the packets that each device had acknowledged at a moment. */
type Acknowledged = Map<string, number[]>;

/**
 * Watches send numbered packets while `vigil backup` and `vigil restore` are killed with -9 at random moments. A backup that has
 * its name must be whole, and a data folder must be empty or whole; every second restore replaces a database, of which the old or
 * the new one must be there. At the end a backup under load and the archived WAL are restored: every packet that was acknowledged
 * before must be there exactly once, also after a service has started on it and the watches have sent everything again.
 */
export async function backupFaults({ rounds, seed }: FaultOptions): Promise<boolean> {
  const random = makeRandom(seed);
  const folder = await tempFolder();
  const path = (name: string): string => join(folder.path, name);
  await mkdir(path("wal"));
  const port = await freeLowPort();
  const service = await startVigil(["--data-dir", path("data"), "--gateway-port", port], {
    VIGIL_LOG_LEVEL: process.env.VIGIL_LOG_LEVEL ?? "fatal",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_WAL_ARCHIVE_DIR: path("wal"),
  });
  const members = iwMembers(devices, 1);
  await withEmbedded(path("data"), (client) => registerMembers(client, members));
  const baseMs = Math.floor(Date.now() / 1000) * 1000 - 20 * 86_400_000;
  const startFleet = (gatewayPort: string): NumberedDevice[] =>
    startNumbered(members, "tcp", true, { port: Number(gatewayPort), baseMs, random });
  const fleet = startFleet(port);
  const world = { path, fleet, startFleet, random, service };
  try {
    await until("packets are acknowledged", () => total(fleet) > devices * 5);
    const { ms: backupMs, result: before } = await timed(() => makeBackup(world, "good.tar.gz"));
    const restore = ["restore", path("good.tar.gz"), "--data-dir", path("first")];
    const { ms: restoreMs } = await timed(() => vigilJson(restore));
    let isRight = await holds(path("first"), before, "the first restore");
    console.log(`  a backup takes ${backupMs} ms and a restore ${restoreMs} ms when nobody kills them`);
    const tally = { named: 0, absent: 0, whole: 0, empty: 0, old: 0 };
    for (let round = 1; round <= rounds; round++) {
      isRight = (await killBackup(world, round, backupMs, tally)) && isRight;
      isRight = (await killRestore(world, round, restoreMs, before, tally)) && isRight;
      console.log(`  round ${round}: ${total(fleet)} acknowledged, ${isRight ? "nothing broken" : "BROKEN"}`);
    }
    console.log(
      `  killed backups: ${tally.absent} left no file, ${tally.named} were whole; killed restores: ${tally.empty} left no database, ${tally.old} the old one, ${tally.whole} a whole new one`,
    );
    return (await restoreLast(world)) && isRight;
  } finally {
    for (const device of fleet) device.close();
    await service.kill("SIGTERM");
    await folder.remove();
  }
}

interface World {
  path(name: string): string;
  fleet: readonly NumberedDevice[];
  /** The same watches once more: they begin with their first packet. */
  startFleet(gatewayPort: string): NumberedDevice[];
  random(): number;
  service: RunningVigil;
}

const total = (fleet: readonly NumberedDevice[]): number =>
  fleet.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);

const acknowledgedBy = (fleet: readonly NumberedDevice[]): Acknowledged =>
  new Map(fleet.map((device) => [device.uid, [...device.acknowledged].map((n) => device.timeOf(n))]));

/** Answers what had been acknowledged when it began. */
async function makeBackup({ path, fleet }: World, name: string): Promise<Acknowledged> {
  const before = acknowledgedBy(fleet);
  await vigilJson(["backup", path(name), "--data-dir", path("data")]);
  return before;
}

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const startedAt = Date.now();
  const result = await work();
  return { ms: Date.now() - startedAt, result };
}

/** Half of them near the end, where files get their names. */
const killTimeMs = (random: () => number, typicalMs: number): number =>
  random() < 0.5 ? random() * typicalMs : (0.8 + random() * 0.35) * typicalMs;

async function killBackup({ path, random }: World, round: number, typicalMs: number, tally: Record<string, number>) {
  const file = path(`killed-${round}.tar.gz`);
  await killVigil(["backup", file, "--data-dir", path("data")], killTimeMs(random, typicalMs));
  if (!existsSync(file)) {
    tally.absent = (tally.absent ?? 0) + 1;
    return true;
  }
  tally.named = (tally.named ?? 0) + 1;
  const { code, stderr } = await runVigil(["backup", "--verify", file]);
  if (code !== 0) console.error(`  ${file} has its name and is broken: ${stderr}`);
  rmSync(file);
  return code === 0;
}

async function killRestore(
  { path, random }: World,
  round: number,
  typicalMs: number,
  before: Acknowledged,
  tally: Record<string, number>,
): Promise<boolean> {
  const target = path(`killed-${round}`);
  const isReplacing = round % 2 === 0;
  if (isReplacing) await vigilJson(["db", "migrate", "--data-dir", target]);
  const restore = ["restore", path("good.tar.gz"), "--data-dir", target, ...(isReplacing ? ["--force"] : [])];
  await killVigil(restore, killTimeMs(random, typicalMs));
  const found = await whatIsIn(target, isReplacing);
  tally[found] = (tally[found] ?? 0) + 1;
  if (found !== "whole") await vigilJson(restore);
  const isRight = await holds(target, before, `round ${round}`);
  const drafts = readdirSync(join(target, "postgres")).filter((name) => name.includes(".new-"));
  if (drafts.length > 0) console.error(`  left behind: ${drafts.join(", ")}`);
  rmSync(target, { recursive: true, force: true });
  return isRight && drafts.length === 0;
}

async function whatIsIn(target: string, isReplacing: boolean): Promise<"whole" | "empty" | "old"> {
  if (isReplacing) {
    const organizations = await withEmbedded(target, (client) => client.query("select 1 from organizations"));
    return organizations.rowCount === 0 ? "old" : "whole";
  }
  const names = ["postgres/cluster", "postgres/replacement.json"];
  return names.some((name) => existsSync(join(target, name))) ? "whole" : "empty";
}

/** A backup under load, and the WAL up to a moment after it. */
async function restoreLast(world: World): Promise<boolean> {
  const { path, fleet } = world;
  const before = await makeBackup(world, "last.tar.gz");
  await vigilJson(["restore", path("last.tar.gz"), "--data-dir", path("last")]);
  const hasAll = await holds(path("last"), before, "the backup under load");
  await until("packets after the backup", (mark) => total(fleet) > mark + devices, total(fleet));
  const atSwitch = acknowledgedBy(fleet);
  const name = await withEmbedded(path("data"), async (client) => {
    const { rows } = await client.query<{ name: string }>("select pg_walfile_name(pg_current_wal_lsn()) as name");
    await client.query("select pg_switch_wal()");
    return (rows[0] as { name: string }).name;
  });
  const [line = ""] = readdirSync(path("wal"));
  await until("the WAL is archived", () => existsSync(join(path("wal"), line, `${name}.gz`)));
  await vigilJson(["restore", path("last.tar.gz"), "--data-dir", path("wal-end"), "--wal", path("wal")]);
  const hasWal = await holds(path("wal-end"), atSwitch, "the backup with its WAL");
  return (await resend(world, atSwitch)) && hasWal && hasAll;
}

/** A service on the restored folder, to which the watches send what they had sent to the first one. */
async function resend({ path, startFleet }: World, before: Acknowledged): Promise<boolean> {
  const port = await freeLowPort();
  const service = await startVigil(["--data-dir", path("wal-end"), "--gateway-port", port], {
    VIGIL_LOG_LEVEL: process.env.VIGIL_LOG_LEVEL ?? "fatal",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
  });
  const fleet = startFleet(port);
  const goals = new Map([...before].map(([uid, times]) => [uid, Math.min(times.length, maxResent)]));
  try {
    await until("the packets are sent again", () =>
      fleet.every(({ uid, acknowledged }) => acknowledged.size >= (goals.get(uid) ?? 0)),
    );
  } finally {
    for (const device of fleet) device.close();
    await service.kill("SIGTERM");
  }
  console.log(`  ${total(fleet)} packets sent again to the restored service`);
  const doubled = await withEmbedded(path("wal-end"), countDoubledAlarms);
  if (doubled > 0) console.error(`  ${doubled} calls for help became two events`);
  return (await holds(path("wal-end"), before, "the restored service")) && doubled === 0;
}

async function countDoubledAlarms(client: pg.Client): Promise<number> {
  const { rowCount } = await client.query(
    "select 1 from events where event_type = 10 group by device_id, device_ts having count(*) > 1",
  );
  return rowCount ?? 0;
}

/** Every acknowledged packet is there, and none twice. */
async function holds(dataDir: string, before: Acknowledged, what: string): Promise<boolean> {
  const stored = await withEmbedded(dataDir, storedTimes);
  let lost = 0;
  let doubled = 0;
  let count = 0;
  for (const [uid, times] of before) {
    const found = stored.get(uid) ?? new Map<number, number>();
    count += times.length;
    for (const time of times) if (!found.has(time)) lost++;
    for (const copies of found.values()) doubled += copies - 1;
  }
  if (lost + doubled > 0 || !what.startsWith("round")) {
    console.log(`  ${what}: ${count} acknowledged before, ${lost} lost, ${doubled} doubled`);
  }
  return lost === 0 && doubled === 0;
}

async function storedTimes(client: pg.Client): Promise<Map<string, Map<number, number>>> {
  const { rows } = await client.query<{ uid: string; at: Date; count: string }>(
    `select d.uid, l.device_ts as at, count(*) from locations l join devices d on d.id = l.device_id
     where l.device_ts is not null group by 1, 2`,
  );
  const stored = new Map<string, Map<number, number>>();
  for (const { uid, at, count } of rows) {
    const times = stored.get(uid) ?? new Map<number, number>();
    stored.set(uid, times.set(at.getTime(), Number(count)));
  }
  return stored;
}

async function until(what: string, condition: (mark: number) => boolean, mark = 0): Promise<void> {
  for (const limit = Date.now() + 120_000; !condition(mark); await pause(50)) {
    if (Date.now() > limit) throw new Error(`still waiting: ${what}`);
  }
}
