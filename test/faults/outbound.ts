import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FleetMember } from "../../src/simulator/fleet.ts";
import { makeAuthority } from "../support/certificates.ts";
import { freeLowPort } from "../support/free-port.ts";
import { openReceiver } from "../support/receiver.ts";
import { type RunningVigil, startVigil, tempFolder } from "../support/vigil-process.ts";
import type { FaultOptions } from "./faults.ts";
import { iwMember, startNumbered } from "./numbered-fleet.ts";
import {
  collectPushed,
  makePartner,
  type Partner,
  replayAll,
  settlePushes,
  untilTrue,
  verifyPartner,
} from "./partner.ts";
import { makeRandom } from "./random.ts";
import { openServedDatabase } from "./served-database.ts";

const devicesEach = 40;
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/**
 * Devices of two organizations send numbered packets while the service, a second worker, the database and the receiver are killed
 * or cut at random. In the end what each partner got, by push and by replay, is exactly what the tables of its organization say.
 */
export async function outboundFaults({ rounds, seed, citusBin }: FaultOptions): Promise<boolean> {
  // Devices and answers draw from a source of their own: how often they do depends on the machine.
  const [random, chance] = [makeRandom(seed), makeRandom(seed + 1)];
  const [folder, workerFolder] = [await tempFolder(), await tempFolder()];
  const authority = makeAuthority();
  await writeFile(join(folder.path, "ca.pem"), authority.ca);
  let receiver = await openReceiver(authority);
  const database = await openServedDatabase(folder.path, citusBin);
  const env = {
    ...database.env,
    VIGIL_LOG_LEVEL: process.env.VIGIL_LOG_LEVEL ?? "fatal",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    VIGIL_WEBHOOK_CA_FILE: join(folder.path, "ca.pem"),
    VIGIL_WEBHOOK_BACKOFF: "0.2,0.5,1,1,2,2,2,2",
    VIGIL_WEBHOOK_TIMEOUT_MS: "2000",
  };
  const port = await freeLowPort();
  let service = await startVigil(["--data-dir", folder.path, "--gateway-port", port], env);
  const workerEnv = {
    ...env,
    DATABASE_URL: await database.url(),
    VIGIL_SECRET_KEY_FILE: join(folder.path, "secret.key"),
  };
  const startWorker = (): Promise<RunningVigil> =>
    startVigil(["--roles", "worker", "--data-dir", workerFolder.path], workerEnv);
  let worker = await startWorker();
  const partners = await Promise.all(
    ["/one", "/two"].map((path, index) =>
      database.with((client) =>
        makePartner(client, { args: ["--data-dir", folder.path], env }, receiver.port, {
          path,
          index,
          devices: devicesEach,
        }),
      ),
    ),
  );
  const baseMs = Math.floor(Date.now() / 1000) * 1000 - 20 * 86_400_000;
  const options = { port: Number(port), baseMs, random: chance };
  const fleet = partners.flatMap(({ uids }) => {
    const watches = uids.map(iwMember);
    const hasNoClock = (_: FleetMember, index: number): boolean => index % 4 === 0;
    return [
      ...startNumbered(watches.filter(hasNoClock), "tcp", false, options),
      ...startNumbered(
        watches.filter((watch, index) => !hasNoClock(watch, index)),
        "tcp",
        true,
        options,
      ),
    ];
  });
  const total = (): number => fleet.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
  const collect = (): void => collectPushed(receiver, partners);
  const accept = (): void => receiver.answer(() => (chance() < 0.05 ? 500 : 200));
  const faults: Record<string, () => Promise<void>> = {
    "killed the service": async () => {
      await service.kill("SIGKILL");
      service = await startVigil(["--data-dir", folder.path, "--gateway-port", port], env);
    },
    "killed the second worker": async () => {
      await worker.kill("SIGKILL");
      worker = await startWorker();
    },
    "killed the database": async () => void (await database.kill(random)),
    "cut the receiver": async () => receiver.cut(),
    "took the receiver away": async () => {
      const at = receiver.port;
      await receiver.close();
      collect();
      await pause(300 + random() * 1500);
      receiver = await openReceiver(authority, { port: at });
    },
    "let the receiver hang": async () => {
      receiver.answer(() => undefined);
      await pause(500 + random() * 2500);
      receiver.cut();
    },
  };
  try {
    accept();
    for (let round = 1; round <= rounds; round++) {
      const before = total();
      await untilTrue("packets are acknowledged", () => total() > before + fleet.length);
      await pause(200 + random() * 800);
      const names = Object.keys(faults);
      const name = names[Math.floor(random() * names.length)] as string;
      await faults[name]?.();
      accept();
      collect();
      console.log(`  round ${round}: ${name} at ${total()} acknowledged, ${sizes(partners)} pushed`);
    }
    for (const device of fleet) device.stop();
    await untilTrue("the last packets are settled", () => fleet.every(({ isIdle }) => isIdle));
    receiver.answer(200);
    await database.with((client) => settlePushes(client, partners, collect));
    let isExact = true;
    for (const partner of partners) {
      const replayed = await replayAll(service.http, partner.credentials);
      isExact = (await database.with((client) => verifyPartner(client, partner, replayed))) && isExact;
    }
    return isExact;
  } catch (error) {
    console.error(service.stderr().slice(-3000), worker.stderr().slice(-3000));
    throw error;
  } finally {
    for (const device of fleet) device.close();
    await worker.kill("SIGTERM");
    await service.kill("SIGTERM");
    await receiver.close();
    await database.close();
    await folder.remove();
    await workerFolder.remove();
  }
}

const sizes = (partners: readonly Partner[]): string => partners.map(({ pushed }) => pushed.size).join(" and ");
