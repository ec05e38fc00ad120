import { afterAll, beforeAll, expect, test } from "vitest";
import { writeFrame } from "../../src/codecs/gt06/framing.ts";
import { writeBcd } from "../../src/codecs/wire/bcd.ts";
import { type CommandWorld, openCommandWorld } from "../support/command-world.ts";
import type { TestGateway } from "../support/gateway.ts";
import { openSocketDevice, type SocketDevice } from "../support/socket-device.ts";

/** A gt06 tracker on a real socket, from its bytes to the API and back. */
let world: CommandWorld;
let gateway: TestGateway;
let uid: string;
let device: SocketDevice;

beforeAll(async () => {
  world = await openCommandWorld();
  gateway = await world.openGateway();
  uid = await world.device("gt06-generic");
  device = await openSocketDevice(gateway.address.port);
});
afterAll(async () => {
  device.close();
  await world.close();
});

const get = async (path: string) =>
  (await world.api.call("GET", `/api/v1/${path}`, { token: world.integration.token })).body;
const login = (imei: string): Buffer => writeFrame(0x01, writeBcd(`0${imei}`, 8), 1);
const reply = (type: number, serial: number): Buffer => writeFrame(type, Buffer.alloc(0), serial);

function now(): Buffer {
  const at = new Date();
  const date = [at.getUTCFullYear() - 2000, at.getUTCMonth() + 1, at.getUTCDate()];
  return Buffer.from([...date, at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()]);
}

/** 41.9 north, 12.5 east. */
const place = Buffer.from("c9047ed160015752a0041476", "hex");
const cell = Buffer.from("00de011234005678", "hex");

test("the gateway answers the login of a registered device, and closes on an unknown one", async () => {
  device.write(login(uid));
  await device.until(reply(0x01, 1));
  const stranger = await openSocketDevice(gateway.address.port);
  stranger.write(login("490154209999999"));
  await stranger.untilClosed();
});

test("the gateway stores a position before it answers", async () => {
  device.write(writeFrame(0x22, Buffer.concat([now(), place, cell, Buffer.from([0, 0, 0])]), 2));
  await device.until(reply(0x22, 2));
  expect(await get(`devices/${uid}/locations/latest/`)).toMatchObject({
    lat: 41.9,
    lng: 12.5,
    speed_kmh: 4,
    heading: 118,
    satellites: 9,
    source: "gps",
    mcc: 222,
    mnc: 1,
  });
});

test("the gateway makes an event of a call for help, with battery and signal", async () => {
  const content = Buffer.concat([now(), place, Buffer.from([9]), cell, Buffer.from([0x40, 0x5d, 0x04, 0x01, 0x02])]);
  device.write(writeFrame(0x26, content, 3));
  await device.until(reply(0x26, 3));
  const { results } = await get(`events/?device_uid=${uid}&event_type=sos`);
  expect(results).toMatchObject([{ event_type: "sos", severity: "critical", location: { lat: 41.9 } }]);
  expect(await get(`devices/${uid}/`)).toMatchObject({
    is_online: true,
    last_status: { bat: { value: 93 }, gsm_signal: { value: 31 } },
  });
});

/** Waits for the command, checks its text and answers it. */
async function answer(text: string, said: string): Promise<void> {
  const frame = await device.until(/xx.\x80.*\r\n$/s);
  expect(frame.toString("latin1", 9, 9 + text.length)).toBe(text);
  const content = Buffer.concat([frame.subarray(5, 9), Buffer.from([1]), Buffer.from(said)]);
  device.write(writeFrame(0x21, content, 4, true));
}

test.each([
  ["locate_now", {}, "WHERE#"],
  ["set_working_mode", { mode: "emergency" }, "TIMER,60,60#"],
  ["set_report_interval", { interval_seconds: 300 }, "TIMER,300,300#"],
  ["set_timezone", { utc_offset_minutes: 120 }, "GMT,E,2,0#"],
  ["restart", {}, "RESET#"],
  ["factory_reset", {}, "FACTORY#"],
])("the gateway has %s acknowledged", async (type, params, text) => {
  const id = await world.command(uid, type, params);
  await answer(text, "OK!");
  expect(await world.until(uid, id, "ack_ok")).toMatchObject({ attempts: 1, error: null });
});

test("the gateway reports why a command was refused", async () => {
  const id = await world.command(uid, "locate_now");
  await answer("WHERE#", "Command error!");
  expect(await world.until(uid, id, "ack_error")).toMatchObject({ error: { code: "not_supported" } });
});
