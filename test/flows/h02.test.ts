import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandWorld, openCommandWorld } from "../support/command-world.ts";
import type { TestGateway } from "../support/gateway.ts";
import { openSocketDevice, type SocketDevice } from "../support/socket-device.ts";

/** An h02 tracker on a real socket, from its bytes to the API and back. */
let world: CommandWorld;
let gateway: TestGateway;
let uid: string;
let device: SocketDevice;
let id: string;

beforeAll(async () => {
  world = await openCommandWorld();
  gateway = await world.openGateway();
  uid = await world.device("h02-generic");
  id = uid.slice(4, 14);
  device = await openSocketDevice(gateway.address.port);
});
afterAll(async () => {
  device.close();
  await world.close();
});

const get = async (path: string) =>
  (await world.api.call("GET", `/api/v1/${path}`, { token: world.integration.token })).body;
const say = (content: string, as = id): void => device.write(Buffer.from(`*HQ,${as},${content}#`));
const nowDigits = (): { time: string; date: string } => {
  const digits = new Date().toISOString().replace(/\D/g, "");
  return { time: digits.slice(8, 14), date: digits.slice(6, 8) + digits.slice(4, 6) + digits.slice(2, 4) };
};
const report = (status: string): string => {
  const { time, date } = nowDigits();
  return `V1,${time},A,4154.0000,N,01230.0000,E,4.40,118,${date},${status}`;
};

test("the gateway takes the first frame for the login, and stores what it says", async () => {
  say(report("FFFFFBFF"));
  await device.until(new RegExp(`^\\*HQ,${id},V4,V1,\\d{14}#$`));
  expect(await get(`devices/${uid}/locations/latest/`)).toMatchObject({
    lat: 41.9,
    lng: 12.5,
    speed_kmh: 8.15,
    heading: 118,
  });
});

test("the gateway closes on an unknown id", async () => {
  const stranger = await openSocketDevice(gateway.address.port);
  stranger.write(Buffer.from("*HQ,5550009999,V0#"));
  await stranger.untilClosed();
});

test("the gateway knows a device by its IMEI too", async () => {
  const other = await world.device("h02-generic");
  const second = await openSocketDevice(gateway.address.port);
  second.write(Buffer.from(`*HQ,${other},HTBT,88#`));
  await second.until(Buffer.from(`*HQ,${other},HTBT#`));
  expect(await get(`devices/${other}/`)).toMatchObject({ is_online: true, last_status: { bat: { value: 88 } } });
  second.close();
});

test("the gateway makes an event of a call for help", async () => {
  say(report("FFFFFBFD"));
  await device.until(/V4,V1,/);
  const { results } = await get(`events/?device_uid=${uid}&event_type=sos`);
  expect(results).toMatchObject([{ event_type: "sos", severity: "critical", location: { lat: 41.9 } }]);
});

test("the gateway reads steps, battery, signal and satellites of a watch", async () => {
  const { time, date } = nowDigits();
  say(`LINK,${time},20,8,67,4210,3,${date},FFFFFBFF`);
  say("V0");
  await device.until(Buffer.from(`*HQ,${id},V0#`));
  expect((await get(`devices/${uid}/`)).last_status).toMatchObject({
    steps: { value: 4210 },
    bat: { value: 67 },
    gsm_signal: { value: 20 },
    satellites: { value: 8 },
  });
});

/** Waits for the command and answers it with the time that it carries. */
async function answer(word: string, values: string, result: string): Promise<void> {
  const frame = (await device.until(/#$/)).toString();
  const [, serial = ""] = new RegExp(`^\\*HQ,${id},${word},(\\d{6})${values}#$`).exec(frame) ?? [];
  expect(serial, frame).toMatch(/^\d{6}$/);
  say(`V4,${word},${result},${serial},${report("FFFFFBFF").slice(3)}`);
}

test.each([
  ["locate_now", {}, "D1", ",10,1"],
  ["set_working_mode", { mode: "power_saving" }, "S71", ",22,3600"],
  ["set_report_interval", { interval_seconds: 300 }, "S71", ",22,300"],
  ["restart", {}, "R1", ""],
])("the gateway has %s acknowledged", async (type, params, word, values) => {
  const command = await world.command(uid, type, params);
  await answer(word, values, "DONE");
  expect(await world.until(uid, command, "ack_ok")).toMatchObject({ attempts: 1, error: null });
});

test("the gateway reports that a command was refused", async () => {
  const command = await world.command(uid, "restart");
  await answer("R1", "", "ERROR");
  expect(await world.until(uid, command, "ack_error")).toMatchObject({ error: { code: "device_rejected" } });
});
