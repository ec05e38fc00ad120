import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { generalAnswer } from "../../src/codecs/jt808/answers.ts";
import { type Address, writeFrame } from "../../src/codecs/jt808/envelope.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { type ByteDevice, openByteDevice } from "../support/byte-device.ts";
import { type CommandWorld, openCommandWorld } from "../support/command-world.ts";
import type { TestGateway } from "../support/gateway.ts";
import { hex } from "../support/jt808-corpus.ts";

let world: CommandWorld;
let gateway: TestGateway;
const clock = makeClock();

beforeAll(async () => {
  world = await openCommandWorld(clock);
  gateway = await world.openGateway();
});
afterAll(() => world.close());

const addressOf = (uid: string): Address => ({ delimiter: 0x7e, version: undefined, terminal: hex(uid.slice(-12)) });

interface Terminal extends ByteDevice {
  say(messageId: number, serial: number, body: string): void;
  answered(serial: number, messageId: number, result?: number): Promise<string>;
}

async function open(uid: string): Promise<Terminal> {
  const device = await openByteDevice(gateway.address.port);
  const address = addressOf(uid);
  return Object.assign(device, {
    say: (messageId: number, serial: number, body: string) =>
      device.write(writeFrame(address, messageId, serial, hex(body))),
    answered: (serial: number, messageId: number, result = 0) =>
      device.until(generalAnswer(address, serial, messageId, result)),
  });
}

const u16 = (value: number): string => value.toString(16).padStart(4, "0");
const registration = "002c012f 3730313131";
const codeIn = (uid: string, serial: number): RegExp =>
  new RegExp(`7e8100....${uid.slice(-12)}0000${u16(serial)}00((?:..)+?)..7e`);

async function register(terminal: Terminal, uid: string): Promise<string> {
  terminal.say(0x0100, 1, registration);
  return terminal.until(codeIn(uid, 1));
}

/** Rome at a time of the clock, which runs in GMT+8. */
function placeAt(timeMs: number, alarm = "00000000"): string {
  const time = new Date(timeMs + 8 * 3_600_000).toISOString().replace(/\D/g, "").slice(2, 14);
  return `${alarm} 00000002 027f63ae 00beaede 0025 0020 0076 ${time} 30 01 1f 31 01 0c e4 02 0050`;
}

const locationsOf = (uid: string) =>
  world.api.db.many<{ lat: number; device_ts: Date }>`
    select l.lat, l.device_ts from locations l join devices d on d.id = l.device_id
    where d.uid = ${uid} order by l.device_ts`;

describe("terminals", () => {
  it("register, get a random code, and must know it from then on", async () => {
    const uid = await world.device("jt808-generic");
    const first = await open(uid);
    const code = await register(first, uid);
    expect(Buffer.from(code, "hex").toString()).toMatch(/^[0-9a-f]{16}$/);
    const [stored] = await world.api.db.many<{ code: string }>`
      select c.code from device_codes c join devices d on d.id = c.device_id where d.uid = ${uid}`;
    expect(stored?.code).toBe(Buffer.from(code, "hex").toString());
    first.say(0x0102, 2, code);
    await first.answered(2, 0x0102);

    const stranger = await open(uid);
    stranger.say(0x0102, 3, "313233");
    await stranger.answered(3, 0x0102, 1);
    await stranger.untilClosed();
    const silent = await open(uid);
    silent.say(0x0200, 4, placeAt(clock.nowMs()));
    await silent.answered(4, 0x0200, 1);
    await silent.untilClosed();
    expect(await locationsOf(uid)).toEqual([]);
    // Neither of them has taken the place of the one that knows it.
    expect(first.isClosed).toBe(false);

    const second = await open(uid);
    second.say(0x0102, 5, code);
    await second.answered(5, 0x0102);
    await first.untilClosed();
    expect(await register(await open(uid), uid)).toBe(code);
  });

  it("that nobody has registered are refused", async () => {
    const uid = "490154209999990";
    const terminal = await open(uid);
    terminal.say(0x0100, 1, registration);
    await terminal.until(new RegExp(`7e8100....${uid.slice(-12)}0000000104`));
    await terminal.untilClosed();
  });

  it("store a position once, however it is sent, and raise an alarm", async () => {
    const uid = await world.device("jt808-generic");
    const terminal = await open(uid);
    const atMs = Math.floor(clock.nowMs() / 1000) * 1000;
    const plain = placeAt(atMs - 60_000);
    const alarm = placeAt(atMs, "00000001");
    terminal.say(0x0200, 1, plain);
    await terminal.answered(1, 0x0200);
    terminal.say(0x0200, 2, alarm);
    await terminal.answered(2, 0x0200);
    const record = (body: string): string => u16(hex(body).length) + body;
    terminal.say(0x0704, 3, `0002 01 ${record(plain)} ${record(alarm)}`);
    await terminal.answered(3, 0x0704);
    expect(await locationsOf(uid)).toMatchObject([
      { lat: 41.903022, device_ts: new Date(atMs - 60_000) },
      { lat: 41.903022, device_ts: new Date(atMs) },
    ]);
    const events = await world.api.db.many<{ event_type: number }>`
      select e.event_type from events e join devices d on d.id = e.device_id
      where d.uid = ${uid} and e.event_type = 10`;
    expect(events).toHaveLength(1);
    const [telemetry] = await world.api.db.many<{ data: object }>`
      select t.data from telemetry t join devices d on d.id = t.device_id where d.uid = ${uid} limit 1`;
    expect(telemetry?.data).toMatchObject({ bat: 80, gsm_signal: 31, satellites: 12 });
  });

  it("acknowledge commands, or refuse them with a reason", async () => {
    const uid = await world.device("jt808-generic");
    const terminal = await open(uid);
    terminal.say(0x0002, 1, "");
    await terminal.answered(1, 0x0002);
    const locate = await world.command(uid, "locate_now");
    const serial = await terminal.until(new RegExp(`7e82010000${uid.slice(-12)}(....)..7e`));
    terminal.say(0x0201, 2, serial + placeAt(clock.nowMs()));
    await world.until(uid, locate, "ack_ok");

    const interval = await world.command(uid, "set_report_interval", { interval_seconds: 300 });
    const next = await terminal.until(
      new RegExp(`7e8103000a${uid.slice(-12)}(....)01000000290400000 12c`.replace(" ", "")),
    );
    terminal.say(0x0001, 3, `${next} 8103 02`);
    expect(await world.until(uid, interval, "ack_error")).toMatchObject({ error: { code: "invalid_params" } });
  });

  it("show texts", async () => {
    const uid = await world.device("jt808-generic");
    const terminal = await open(uid);
    terminal.say(0x0002, 1, "");
    await terminal.answered(1, 0x0002);
    const path = `/api/v1/devices/${uid}/messages/`;
    const { token } = world.integration;
    const sent = await world.api.call("POST", `${path}send-text/`, { token, body: { text: "Ciao" } });
    expect(sent.status).toBe(201);
    const serial = await terminal.until(new RegExp(`7e83000005${uid.slice(-12)}(....)0d4369616f`));
    terminal.say(0x0001, 2, `${serial} 8300 00`);
    await vi.waitUntil(
      async () => {
        const { body } = await world.api.call("GET", `${path}${sent.body.id}/`, { token });
        return body.device_delivery_status === "delivered";
      },
      { timeout: 10_000, interval: 20 },
    );
  });
});
