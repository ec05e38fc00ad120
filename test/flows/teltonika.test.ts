import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { textFrame } from "../../src/codecs/teltonika/downlink.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { type ByteDevice, openByteDevice } from "../support/byte-device.ts";
import { type CommandWorld, openCommandWorld } from "../support/command-world.ts";
import type { TestGateway } from "../support/gateway.ts";
import { answerFrame, datagram, frame8, loginFrame, record8 } from "../support/teltonika-corpus.ts";
import { openUdpDevice } from "../support/udp-device.ts";

let world: CommandWorld;
let gateway: TestGateway;
const clock = makeClock();

beforeAll(async () => {
  world = await openCommandWorld(clock);
  gateway = await world.openGateway();
});
afterAll(() => world.close());

const stored = (count: number): Buffer => Buffer.from(count.toString(16).padStart(8, "0"), "hex");

async function open(uid: string): Promise<ByteDevice> {
  const device = await openByteDevice(gateway.address.port);
  device.write(loginFrame(uid));
  return device;
}

async function logIn(uid: string): Promise<ByteDevice> {
  const device = await open(uid);
  await device.until(/^01/);
  return device;
}

const timesOf = async (uid: string): Promise<number[]> => {
  const rows = await world.api.db.many<{ device_ts: Date }>`
    select l.device_ts from locations l join devices d on d.id = l.device_id where d.uid = ${uid} order by l.device_ts`;
  return rows.map(({ device_ts }) => device_ts.getTime());
};

describe("trackers", () => {
  it("learn from one byte whether they are known", async () => {
    const unknown = await open("490154209999990");
    await unknown.until(/^00/);
    await unknown.untilClosed();
    const known = await logIn(await world.device("teltonika-generic"));
    expect(known.received).toBe("01");
    await known.close();
  });

  it("store each record once, also when it comes again in another frame", async () => {
    const uid = await world.device("teltonika-generic");
    const tracker = await logIn(uid);
    const atMs = clock.nowMs();
    const [first, second, third] = [atMs - 3000, atMs - 2000, atMs - 1000];
    tracker.write(frame8(record8(first), record8(second)));
    await tracker.until(stored(2));
    tracker.write(frame8(record8(second), record8(third), record8(first)));
    await tracker.until(stored(3));
    expect(await timesOf(uid)).toEqual([first, second, third]);
    const readings = await world.api.db.many<{ data: object }>`
      select t.data from telemetry t join devices d on d.id = t.device_id where d.uid = ${uid}`;
    expect(readings).toHaveLength(3);
    expect(readings[0]?.data).toMatchObject({ bat: 87, gsm_signal: 23, satellites: 9 });
  });

  it("raise an alarm by their button and one by a fall", async () => {
    const uid = await world.device("teltonika-generic");
    const tracker = await logIn(uid);
    tracker.write(Buffer.of(0xff));
    tracker.write(frame8(record8(clock.nowMs(), [[236, 1]], 236), record8(clock.nowMs() + 1, [[242, 1]], 242)));
    await tracker.until(stored(2));
    const events = await world.api.db.many<{ event_type: number }>`
      select e.event_type from events e join devices d on d.id = e.device_id
      where d.uid = ${uid} and e.event_type in (10, 20) order by e.event_type`;
    expect(events.map(({ event_type }) => event_type)).toEqual([10, 20]);
  });

  it("answer commands by texts, and restart without an answer", async () => {
    const uid = await world.device("teltonika-generic");
    const tracker = await logIn(uid);
    const locate = await world.command(uid, "locate_now");
    await tracker.until(textFrame("getrecord"));
    tracker.write(answerFrame("New data record triggered!"));
    await world.until(uid, locate, "ack_ok");

    const again = await world.command(uid, "locate_now");
    await tracker.until(textFrame("getrecord"));
    tracker.write(answerFrame("Unknown command or invalid format"));
    expect(await world.until(uid, again, "ack_error")).toMatchObject({ error: { code: "not_supported" } });

    const restart = await world.command(uid, "restart");
    await tracker.until(textFrame("cpureset"));
    expect(await world.until(uid, restart, "ack_ok")).toMatchObject({ result: { confirmed: false } });
  });

  it("name themselves in every datagram, and are answered with its numbers once it is stored", async () => {
    const uid = await world.device("teltonika-generic");
    const tracker = await openUdpDevice(gateway.address.port);
    const [first, second] = [clock.nowMs() - 2000, clock.nowMs() - 1000];
    const untilAnswers = (count: number): Promise<unknown> =>
      vi.waitUntil(() => tracker.answers.length >= count, { timeout: 10_000, interval: 5 });
    tracker.write(datagram(`08 01 ${record8(first)} 01`, uid));
    await untilAnswers(1);
    tracker.write(datagram(`08 02 ${record8(first)} ${record8(second)} 02`, uid));
    await untilAnswers(2);
    expect(tracker.answers.map((answer) => answer.toString("hex"))).toEqual(["0005cafe010501", "0005cafe010502"]);
    expect(await timesOf(uid)).toEqual([first, second]);
    tracker.close();
  });
});
