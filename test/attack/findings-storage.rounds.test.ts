import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { AttackedService, comesTrue, type Party, pause } from "../support/attacked-service.ts";
import { openSocket } from "../support/attackers.ts";
import { createTestDatabase } from "../support/database.ts";
import { iwHeartRate, iwPosition, iwSos } from "../support/fleet.ts";
import { openIwWatch } from "../support/iw-watch.ts";
import { tempFolder } from "../support/vigil-process.ts";

/** What is stored, and stays stored: tried on the running program from outside, each time on one of its own. */
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A service on an empty database; `url` for looks into it. */
async function openService(env: Record<string, string>): Promise<{ service: AttackedService; url: string }> {
  const database = await createTestDatabase({ empty: true });
  closing.push(() => database.drop());
  const service = await AttackedService.open({ DATABASE_URL: database.url, ...env });
  closing.push(() => service.close());
  return { service, url: database.url };
}

const eventsOf = async (service: AttackedService, uid: string, { token }: Party): Promise<unknown[]> =>
  (await service.call("GET", `/api/v1/events/?device_uid=${uid}&event_type=sos`, token)).body.results as unknown[];

describe("a device that sends recordings without an end", () => {
  const sizeOf = async (url: string): Promise<number> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query("select pg_database_size(current_database()) as size");
    await client.end();
    return Number(rows[0].size) / 1_048_576;
  };

  it("fills no more of the disk than its share of a day", async () => {
    const { service, url } = await openService({ VIGIL_DEVICE_MEDIA_MB_PER_DAY: "1" });
    const uid = await service.register(await service.makeParty("attacker"));
    const before = await sizeOf(url);
    const socket = openSocket(service.gatewayPort, "127.0.0.2");
    closing.push(() => socket.destroy());
    let sent = 0;
    const fill = (): void => {
      for (let isRead = true; isRead && socket.writable; sent++) {
        // Each a recording of its own, and random: what is alike is stored once, or compressed.
        const head = `IWAP07,20260301${String(sent).padStart(6, "0")},1,1,4000,`;
        const sound = Buffer.from(Array.from({ length: 4000 }, () => 0x80 | (Math.random() * 128)));
        isRead = socket.write(Buffer.concat([Buffer.from(head), sound, Buffer.from("#")]));
      }
    };
    socket.on("connect", () => {
      socket.write(`IWAP00${uid}#`);
      fill();
    });
    socket.on("drain", fill).resume();
    await pause(20_000);
    const grown = Math.round((await sizeOf(url)) - before);
    console.log(
      `M1: one device sent ${Math.round((sent * 4000) / 1_048_576)} MB in 20 s, the database grew by ${grown} MB`,
    );
    expect(grown).toBeLessThan(8);
  });

  it("does not fill the disk to its end: below the floor only alarms are stored", async () => {
    const service = await AttackedService.open({ VIGIL_DISK_FLOOR_MB: "1000000000" });
    closing.push(() => service.close());
    const party = await service.makeParty("victim");
    const uid = await service.register(party);
    const watch = await openIwWatch(service.gatewayPort, uid);
    for (let n = 0; n < 50; n++) watch.write(iwPosition(Date.now() - n * 60_000));
    await pause(3000);
    watch.write(iwSos(Date.now()));
    const isAnswered = await comesTrue(() => watch.received.some((frame) => frame.startsWith("IWBP10")), 20_000);
    const stored = watch.received.filter((frame) => frame.startsWith("IWBP01")).length;
    watch.close();
    console.log(`M1: below the floor, ${stored} of 50 positions were stored; SOS answered: ${isAnswered}`);
    expect([stored, isAnswered]).toEqual([0, true]);
    expect(await eventsOf(service, uid, party)).toHaveLength(1);
  });
});

describe("a fault of the program", () => {
  const fault = "41.111111";
  /** While the file is there, what has the latitude cannot be written: a TypeError, as of a value that JSON does not know. */
  const preload = (file: string): string => `
    import { existsSync } from "node:fs";
    const stringify = JSON.stringify;
    JSON.stringify = (...given) => {
      const text = stringify(...given);
      if (text?.includes("${fault}") && existsSync(${JSON.stringify(file)})) throw new TypeError("a fault of the program");
      return text;
    };`;

  async function openFaulty() {
    const folder = await tempFolder();
    closing.push(folder.remove);
    const [module, flag] = [join(folder.path, "fault.mjs"), join(folder.path, "fault")];
    writeFileSync(module, preload(flag));
    writeFileSync(flag, "");
    const { service } = await openService({ NODE_OPTIONS: `--import ${module}` });
    const party = await service.makeParty("victim");
    return { service, party, uid: await service.register(party), mend: () => rmSync(flag) };
  }

  const marked = (): string => iwSos(Date.now() - 60_000).replace(/A\d{4}\.\d{4}N/, "A4106.6667N");

  it("loses no call for help: it waits, and is stored when the fault is over", async () => {
    const { service, party, uid, mend } = await openFaulty();
    const watch = await openIwWatch(service.gatewayPort, uid);
    watch.write(marked());
    const answer = (): boolean => watch.received.some((frame) => frame.startsWith("IWBP10"));
    const isAnsweredEarly = await comesTrue(answer, 3000);
    mend();
    const isAnswered = await comesTrue(answer, 20_000);
    const events = (await eventsOf(service, uid, party)).length;
    watch.close();
    console.log(`M8: SOS answered during the fault: ${isAnsweredEarly}, after it: ${isAnswered}; events: ${events}`);
    expect([isAnsweredEarly, isAnswered, events]).toEqual([false, true, 1]);
  });

  it("at one packet alone sets it aside, but still makes its event, and what was set aside is brought back", async () => {
    const { service, party, uid, mend } = await openFaulty();
    const other = await openIwWatch(service.gatewayPort, await service.register(party));
    const timer = setInterval(() => other.write(iwHeartRate(70)), 100);
    closing.push(() => clearInterval(timer));
    const watch = await openIwWatch(service.gatewayPort, uid);
    watch.write(marked());
    const isAnswered = await comesTrue(() => watch.received.some((frame) => frame.startsWith("IWBP10")), 20_000);
    const events = (await eventsOf(service, uid, party)).length;
    console.log(`M8: SOS that fails alone: answered ${isAnswered}, events ${events}`);
    expect([isAnswered, events]).toEqual([true, 1]);
    mend();
    watch.close();
    const retried = await service.command(["device", "poisoned", "retry", "--uid", uid]);
    expect(retried).toMatchObject({ retried: 1, stored: 1, failed: 0 });
    const locations = await service.call("GET", `/api/v1/devices/${uid}/locations/`, party.token);
    expect(locations.text).toContain(fault);
    expect(await eventsOf(service, uid, party)).toHaveLength(1);
  });
});

describe("the log of the last weeks", () => {
  const daySeconds = 86_400;

  it.each([
    ["a retention of seven days on one process", { VIGIL_RETENTION_DAYS: "7" }],
    ["a clock that is a month ahead on one process", { VIGIL_CLOCK_OFFSET_SECONDS: String(31 * daySeconds) }],
  ])("is not dropped by %s", async (_, wrong) => {
    const ago = { VIGIL_CLOCK_OFFSET_SECONDS: String(-20 * daySeconds) };
    const { service } = await openService(ago);
    const party = await service.makeParty("victim");
    const uid = await service.register(party);
    const watch = await openIwWatch(service.gatewayPort, uid);
    await watch.send(iwSos(Date.now() - 21 * daySeconds * 1000));
    watch.close();
    const logged = async (token: string): Promise<string[]> => {
      const { body } = await service.call("GET", "/api/v1/partner/outbound-events/", token);
      return (body.data as { type: string }[]).map(({ type }) => type);
    };
    const before = await logged(party.token);
    expect(before).toContain("alarm.sos");
    await service.stop();
    const now = { VIGIL_CLOCK_OFFSET_SECONDS: "0" };
    await service.start({ ...now, ...wrong });
    await pause(2000);
    await service.stop();
    await service.start(now);
    const after = await logged(await service.fetchToken(party.credentials));
    console.log(
      `M11: ${before.length} entries of the log before, ${after.length} after a start with ${JSON.stringify(wrong)}`,
    );
    expect(after.slice(0, before.length)).toEqual(before);
  });
});
