import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { readHeader, writeFrame } from "../../src/codecs/minifinder2/framing.ts";
import { writeItem } from "../../src/codecs/minifinder2/items.ts";
import { type CommandWorld, openCommandWorld } from "../support/command-world.ts";
import type { TestGateway } from "../support/gateway.ts";
import { gps, u32 } from "../support/minifinder2-corpus.ts";
import { openRawSocket, type RawSocket } from "../support/raw-socket.ts";
import { openUdpDevice } from "../support/udp-device.ts";

let world: CommandWorld;
let gateway: TestGateway;
let uid: string;
let device: RawSocket;

beforeAll(async () => {
  world = await openCommandWorld();
  gateway = await world.openGateway();
  uid = await world.device("minifinder2-generic");
  device = await openRawSocket(gateway.address.port);
});
afterAll(async () => {
  device.close();
  await world.close();
});

const item = (key: number, hex: string): Buffer => writeItem(key, Buffer.from(hex, "hex"));
const now = (): string => u32(Math.floor(Date.now() / 1000));
const frame = (command: number, sequence: number, ...items: Buffer[]): Buffer =>
  writeFrame(Buffer.concat([Buffer.from([command]), writeItem(0x01, Buffer.from(uid)), ...items]), sequence, 0, true);
const success = (sequence: number): Buffer => writeFrame(Buffer.from([0x7f, 1, 0]), sequence, 0, false);

it("a pendant logs in with a heartbeat, and gets the time when it asks", async () => {
  device.write(frame(0x03, 1, item(0x10, "5a")));
  expect(await device.untilBytes(11)).toEqual(success(1));
  device.write(frame(0x03, 2, item(0x12, "")));
  const answer = (await device.untilBytes(11 + 15)).subarray(11);
  expect(readHeader(answer)).toMatchObject({ sequence: 2, command: 0x03 });
  expect(Math.abs(answer.readUInt32LE(11) - Date.now() / 1000)).toBeLessThan(60);
});

it("a pendant stores fixes, and the button as an event; a wrong checksum is not answered", async () => {
  const before = device.received().length;
  const bad = frame(0x01, 3, item(0x24, `${now()}${u32(0x40980000)}`), gps);
  bad[20] = (bad[20] as number) ^ 0xff;
  const good = frame(0x01, 4, item(0x24, `${now()}${u32(0x40980000)}`), gps, item(0x02, `${u32(1 << 12)}${now()}`));
  device.write(Buffer.concat([bad, good]));
  expect((await device.untilBytes(before + 11)).subarray(before)).toEqual(success(4));
  const { token } = world.integration;
  const { body: events } = await world.api.call("GET", `/api/v1/events/?device_uid=${uid}&event_type=sos`, { token });
  expect(events.results).toHaveLength(1);
  const { body: latest } = await world.api.call("GET", `/api/v1/devices/${uid}/locations/latest/`, { token });
  expect(latest).toMatchObject({ lat: 41.902782, lng: 12.496366, satellites: 9 });
});

it.each([
  ["accepts", 0x00, "ack_ok", null],
  ["refuses", 0x0b, "ack_error", "device_rejected"],
])("a pendant settles a command that the device %s", async (_, reason, status, code) => {
  const before = device.received().length;
  const id = await world.command(uid, "set_timezone", { utc_offset_minutes: 345 });
  const command = (await device.untilBytes(before + 12)).subarray(before);
  const { sequence } = readHeader(command);
  expect(command).toEqual(writeFrame(Buffer.from([0x02, 0x02, 0x0e, 23]), sequence, 0, true));
  device.write(writeFrame(Buffer.from([0x7f, 1, reason]), sequence, 0, false));
  expect((await world.until(uid, id, status)).error?.code ?? null).toBe(code);
});

it("a pendant closes on a device that nobody has registered", async () => {
  const stranger = await openRawSocket(gateway.address.port);
  const payload = Buffer.concat([Buffer.from([0x03]), writeItem(0x01, Buffer.from("490154299999990"))]);
  stranger.write(writeFrame(payload, 1, 0, true));
  await vi.waitUntil(() => stranger.isClosed, { timeout: 10_000 });
});

it("a pendant speaks UDP on the same port", async () => {
  const own = await world.device("minifinder2-generic");
  const pendant = await openUdpDevice(gateway.address.port);
  const payload = Buffer.concat([Buffer.from([0x01]), writeItem(0x01, Buffer.from(own)), gps]);
  pendant.write(writeFrame(payload, 7, 0, true));
  await vi.waitUntil(() => pendant.answers.length > 0, { timeout: 10_000 });
  expect(pendant.answers).toEqual([success(7)]);
  pendant.close();
});
