import { registerFleet } from "../support/fleet.ts";
import { freeLowPort } from "../support/free-port.ts";
import { type RunningVigil, startVigil, tempFolder } from "../support/vigil-process.ts";
import { verifyEvents } from "./event-verdict.ts";
import type { FaultOptions } from "./faults.ts";
import type { NumberedDevice } from "./numbered-device.ts";
import { iwMembers, membersOver, registerMembers, startNumbered } from "./numbered-fleet.ts";
import { verifyPackets } from "./packet-verdict.ts";
import { makeRandom } from "./random.ts";
import { openServedDatabase, type ServedDatabase } from "./served-database.ts";
import { fenceIn, WalkingDevice, walkedFence, walkerStart } from "./walking-device.ts";

/** Enough for two transactions beside each other. */
const devices = 800;
/** Watches without a clock, devices of all protocols over TCP, and those that speak UDP over it. */
const [untimed, overTcp, overUdp] = [200, 400, 200];
const walkers = 30;
const stopSeconds = 30;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/**
 * Hundreds of devices of all protocols and transports send numbered packets while the service, or its database, is killed with -9 at random moments; then the
 * database stands still for half a minute. Every acknowledged packet must be there exactly once, and so must every event: calls
 * for help, fences that are left and entered, and presence, which must alternate. With the programs of Citus the database is a
 * coordinator with two workers, and each of the three is killed.
 */
export async function ingestFaults({ rounds, seed, citusBin }: FaultOptions): Promise<boolean> {
  const random = makeRandom(seed);
  const folder = await tempFolder();
  const database = await openServedDatabase(folder.path, citusBin);
  const env = {
    ...database.env,
    VIGIL_LOG_LEVEL: process.env.VIGIL_LOG_LEVEL ?? "fatal",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_GATEWAY_PACKETS_PER_MINUTE: "1000000",
    VIGIL_OFFLINE_AFTER_SECONDS: "5",
  };
  const port = await freeLowPort();
  let service = await startVigil(["--data-dir", folder.path, "--gateway-port", port], env);
  const again = (): Promise<RunningVigil> => startVigil(["--data-dir", folder.path, "--gateway-port", port], env);
  const [watches, tcp, udp] = [
    iwMembers(untimed, 1),
    membersOver("tcp", overTcp, untimed + 1),
    membersOver("udp", overUdp, untimed + overTcp + 1),
  ];
  await database.with((client) => registerMembers(client, [...watches, ...tcp, ...udp]));
  const walkerUids = await database.with(async (client) => {
    const own = await registerFleet(client, walkers, walkerStart);
    await fenceIn(client, own, walkedFence);
    return own;
  });
  const walking = walkerUids.map((uid) => new WalkingDevice(uid, () => Number(port)));
  const baseMs = Math.floor(Date.now() / 1000) * 1000 - 20 * 86_400_000;
  const options = { port: Number(port), baseMs, random };
  const fleet = [
    ...startNumbered(watches, "tcp", false, options),
    ...startNumbered(tcp, "tcp", true, options),
    ...startNumbered(udp, "udp", true, options),
  ];
  const total = (): number => fleet.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
  try {
    for (let round = 1; round <= rounds; round++) {
      const before = total();
      await until("packets are acknowledged", () => total() > before + devices);
      await pause(200 + random() * 1200);
      const isDatabase = random() < 0.4;
      let killed = "the service";
      if (isDatabase) killed = await database.kill(random);
      else {
        await service.kill("SIGKILL");
        service = await again();
      }
      console.log(`  round ${round}: killed ${killed} at ${total()} acknowledged`);
    }
    const isBounded = await standStill(service, database, total);
    for (const device of [...fleet, ...walking]) device.stop();
    await until("the last packets are settled", () => [...fleet, ...walking].every(({ isIdle }) => isIdle));
    const verdict = await database.with((client) => verifyPackets(client, fleet));
    const isEveryKindHeard = tell(fleet);
    console.log(
      `  ${total()} acknowledged of ${fleet.reduce((sum, { sent }) => sum + sent, 0)} sent: ${verdict.lost} lost, ${verdict.doubled} doubled`,
    );
    const areEventsRight = await database.with((client) => verifyEvents(client, fleet, walking));
    return verdict.lost === 0 && verdict.doubled === 0 && areEventsRight && isBounded && isEveryKindHeard;
  } catch (error) {
    console.error(service.stderr().slice(-4000));
    throw error;
  } finally {
    for (const device of [...fleet, ...walking]) device.close();
    await service.kill("SIGTERM");
    await database.close();
    await folder.remove();
  }
}

/** Packets acknowledged by protocol and transport. False: a kind of device was never answered. */
function tell(fleet: readonly NumberedDevice[]): boolean {
  const kinds = new Map<string, number>();
  for (const { member, transport, acknowledged } of fleet) {
    const kind = `${member.protocol}/${transport}`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + acknowledged.size);
  }
  console.log(`  acknowledged: ${[...kinds].map(([kind, count]) => `${kind} ${count}`).join(", ")}`);
  return [...kinds.values()].every((count) => count > 0);
}

/** The database neither answers nor closes a connection; the service must hold what it has, take no more, and go on. */
async function standStill(service: RunningVigil, database: ServedDatabase, total: () => number): Promise<boolean> {
  const warm = total();
  await until("the fleet is back", () => total() > warm + devices * 5);
  const before = await residentMb(service);
  const pids = database.pids();
  for (const pid of pids) signal(pid, "SIGSTOP");
  const atStop = total();
  await pause(1000);
  const early = total();
  await pause((stopSeconds - 1) * 1000);
  const during = total() - early;
  const { pid } = service.process;
  const held = await residentMb(service);
  for (const pid of pids) signal(pid, "SIGCONT");
  await until("packets are acknowledged again", () => total() > atStop + devices * 2);
  const isSame = service.process.pid === pid && service.process.exitCode === null;
  console.log(
    `  database stopped ${stopSeconds} s: ${during} acknowledged meanwhile, memory ${before} MB before, ${held} MB during; went on ${isSame ? "without a restart" : "AFTER A RESTART"}`,
  );
  return during === 0 && isSame && held < before + 200;
}

async function until(what: string, condition: () => boolean): Promise<void> {
  for (const limit = Date.now() + 60_000; !condition(); await pause(20)) {
    if (Date.now() > limit) throw new Error(`still waiting: ${what}`);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // A backend may have ended meanwhile.
  }
}

async function residentMb(service: RunningVigil): Promise<number> {
  const text = await (await fetch(`${service.ops}/metrics`)).text();
  return Math.round(Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / 1e6);
}
