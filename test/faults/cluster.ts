import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { makeAuthority } from "../support/certificates.ts";
import { freeLowPort } from "../support/free-port.ts";
import { openReceiver } from "../support/receiver.ts";
import { type RunningVigil, startVigil, tempFolder } from "../support/vigil-process.ts";
import { stopForAMinute } from "./absent-node.ts";
import { verifyEvents } from "./event-verdict.ts";
import { openFaultDatabase } from "./fault-database.ts";
import type { FaultOptions } from "./faults.ts";
import { iwMember, membersOver, registerMembers, startNumbered } from "./numbered-fleet.ts";
import { verifyPackets } from "./packet-verdict.ts";
import {
  collectPushed,
  makePartner,
  type Partner,
  replayAll,
  settlePushes,
  untilTrue,
  verifyPartner,
} from "./partner.ts";
import { QuotaCaller } from "./quota-caller.ts";
import { makeRandom } from "./random.ts";
import { migrateAndDistribute } from "./served-database.ts";

const devicesEach = 40;
const [othersOverTcp, othersOverUdp] = [60, 40];
/** How often two processes are killed at once. */
const pairShare = 0.2;
/** How often a worker of a distributed database is killed instead of a process. */
const nodeShare = 0.3;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** One process of the cluster, with a name, what it is started with, and its present life. */
interface Member {
  name: string;
  args: readonly string[];
  running: RunningVigil;
}

/**
 * Two gateways, two APIs and two workers on one PostgreSQL. Devices of all protocols connect to either gateway, partners read by
 * push and replay, and a caller asks for more than its quota, while any of the six is killed with -9 at random moments. Nothing
 * acknowledged may be lost or doubled, replay must miss nothing, and the quota must hold. With the programs of Citus the database is
 * a coordinator with two workers, which are killed too, and one of them is stopped for a minute.
 */
export async function clusterFaults({ rounds, seed, citusBin }: FaultOptions): Promise<boolean> {
  const [random, chance] = [makeRandom(seed), makeRandom(seed + 1)];
  const shared = await tempFolder();
  const authority = makeAuthority();
  await writeFile(join(shared.path, "ca.pem"), authority.ca);
  const receiver = await openReceiver(authority, { answer: () => (chance() < 0.02 ? 500 : 200) });
  const database = await openFaultDatabase(citusBin);
  const env = {
    DATABASE_URL: database.url,
    VIGIL_LOG_LEVEL: process.env.VIGIL_LOG_LEVEL ?? "fatal",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_GATEWAY_PACKETS_PER_MINUTE: "1000000",
    VIGIL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    VIGIL_WEBHOOK_CA_FILE: join(shared.path, "ca.pem"),
    VIGIL_WEBHOOK_BACKOFF: "0.2,0.5,1,1,2,2,2,2",
    VIGIL_PROCESSES: "1",
  };
  const gatewayPorts = [await freeLowPort(), await freeLowPort()];
  const apiPorts = [await freeLowPort(), await freeLowPort()];
  const plans = [
    ...gatewayPorts.map((port, index) => ({
      name: `gateway ${index + 1}`,
      args: ["--roles", "gateway", "--gateway-port", port],
    })),
    ...apiPorts.map((port, index) => ({ name: `API ${index + 1}`, args: ["--roles", "api", "--port", port] })),
    ...[1, 2].map((number) => ({ name: `worker ${number}`, args: ["--roles", "worker"] })),
  ];
  const start = (args: readonly string[]): Promise<RunningVigil> =>
    startVigil(["--data-dir", shared.path, ...args], env);
  const { nodes } = database;
  if (nodes) await migrateAndDistribute(env);
  else {
    // The first one brings the schema; the others come together.
    const first = await start(["--roles", "worker"]);
    await first.kill("SIGTERM");
  }
  const members: Member[] = await Promise.all(
    plans.map(async (plan) => ({ ...plan, running: await start(plan.args) })),
  );
  const client = new pg.Client(database.connection);
  await client.connect();
  const where = { args: ["--data-dir", shared.path], env };
  const partners: Partner[] = [];
  for (const [index, path] of ["/one", "/two"].entries()) {
    partners.push(await makePartner(client, where, receiver.port, { path, index, devices: devicesEach }));
  }
  const others = [membersOver("tcp", othersOverTcp, 1), membersOver("udp", othersOverUdp, othersOverTcp + 1)] as const;
  await registerMembers(client, others.flat());
  const caller = await QuotaCaller.open(client, where, apiPorts.map(Number));
  const baseMs = Math.floor(Date.now() / 1000) * 1000 - 20 * 86_400_000;
  const options = { port: gatewayPorts.map(Number), baseMs, random: chance };
  const fleet = [
    ...startNumbered(
      partners.flatMap(({ uids }) => uids.map(iwMember)),
      "tcp",
      true,
      options,
    ),
    ...startNumbered(others[0], "tcp", true, options),
    ...startNumbered(others[1], "udp", true, options),
  ];
  const total = (): number => fleet.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
  const collect = (): void => collectPushed(receiver, partners);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const killSome = async (): Promise<string> => {
    if (nodes && random() < nodeShare) {
      const { name } = pick(nodes.workers);
      await nodes.kill(name);
      await pause(random() * 3000);
      await nodes.start(name);
      return `database ${name}`;
    }
    const killed = [...new Set(random() < pairShare ? [pick(members), pick(members)] : [pick(members)])];
    await Promise.all(
      killed.map(async (member) => {
        await member.running.kill("SIGKILL");
        member.running = await start(member.args);
      }),
    );
    return killed.map(({ name }) => name).join(" and ");
  };
  let hasWaitedAlone = true;
  try {
    for (let round = 1; round <= rounds; round++) {
      const before = total();
      await untilTrue("packets are acknowledged", () => total() > before + fleet.length);
      await pause(100 + random() * 900);
      const names = await killSome();
      collect();
      const pushed = partners.reduce((sum, partner) => sum + partner.pushed.size, 0);
      console.log(`  round ${round}: killed ${names} at ${total()} acknowledged, ${pushed} pushed`);
      if (nodes && round === Math.ceil(rounds / 2)) hasWaitedAlone = await stopForAMinute(client, nodes, fleet);
    }
    for (const device of fleet) device.stop();
    await untilTrue("the last packets are settled", () => fleet.every(({ isIdle }) => isIdle));
    const isWithinQuota = await caller.stop();
    receiver.answer(200);
    await settlePushes(client, partners, collect);
    const { lost, doubled } = await verifyPackets(client, fleet);
    console.log(`  ${total()} packets acknowledged: ${lost} lost, ${doubled} doubled`);
    let isExact = (await verifyEvents(client, fleet, [])) && lost + doubled === 0;
    for (const [index, partner] of partners.entries()) {
      const replayed = await replayAll(`http://127.0.0.1:${apiPorts[index]}`, partner.credentials);
      isExact = (await verifyPartner(client, partner, replayed)) && isExact;
    }
    return isExact && isWithinQuota && hasWaitedAlone;
  } catch (error) {
    for (const { name, running } of members) console.error(name, running.stderr().slice(-1500));
    throw error;
  } finally {
    for (const device of fleet) device.close();
    await caller.stop();
    await Promise.all(members.map(({ running }) => running.kill("SIGTERM")));
    await client.end();
    await receiver.close();
    await database.close();
    await shared.remove();
  }
}
