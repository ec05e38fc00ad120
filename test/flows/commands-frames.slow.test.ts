import { afterAll, beforeAll, expect, test } from "vitest";
import { testCatalog } from "../support/catalog.ts";
import {
  type CommandWorld,
  iwDevice,
  openCommandWorld,
  serialIn,
  setrackerDevice,
  watchFrame,
} from "../support/command-world.ts";
import type { TestGateway } from "../support/gateway.ts";
import type { WireDevice } from "../support/wire-device.ts";

/** Every type of command of every watch, from the API to the bytes on the socket and back with the answer. */
let world: CommandWorld;
let gateway: TestGateway;

beforeAll(async () => {
  world = await openCommandWorld();
  gateway = await world.openGateway();
});
afterAll(() => world.close());

type Row = [type: string, params: object, dialects: string, frames: string[]];
/** What stands behind IMEI and serial. */
const iwRows: Row[] = [
  ["locate_now", {}, "ABC", ["BP16"]],
  ["find_device", {}, "B", ["BP88"]],
  ["send_message", { text: "Ciao" }, "A", ["BP40,004300690061006f"]],
  ["send_message", { text: "Ciao" }, "B", ["BP40,4369616F"]],
  ["set_working_mode", { mode: "normal" }, "ABC", ["BP33,1"]],
  ["set_working_mode", { mode: "custom", interval_seconds: 45, gps_enabled: false }, "ABC", ["BP34,8,45,0"]],
  ["set_timezone", { utc_offset_minutes: 330 }, "AC", ["BP20,0,5.5"]],
  ["set_timezone", { utc_offset_minutes: -180 }, "B", ["BP20,1,-3"]],
  ["test_heart_rate", {}, "AB", ["BPXL"]],
  ["test_blood_pressure", {}, "AB", ["BPXY"]],
  ["test_temperature", {}, "A", ["BPXT"]],
  ["test_temperature", {}, "B", ["BPTE,1"]],
  ["test_blood_oxygen", {}, "A", ["BPXZ"]],
  ["test_blood_oxygen", {}, "B", ["BPOX,1"]],
  ["calibrate_bp", { sbp: 118, dbp: 76 }, "A", ["BPJZ,118,76"]],
  ["calibrate_bp", { sbp: 118, dbp: 76, age: 81, gender: "female" }, "A", ["BPJZ,118,76,81,0"]],
  ["set_report_interval", { interval_seconds: 300 }, "ABC", ["BP15,300"]],
  ["set_sos_numbers", { numbers: ["112"] }, "ABC", ["BP12,112,,"]],
  ["set_contacts", { contacts: [{ name: "Jo", phone: "+391" }] }, "ABC", ["BP14,004A006F|+391,,,,,,,,,"]],
  ["set_fall_detection", { enabled: true }, "AB", ["BP76,1", "BP77,2"]],
  ["set_heart_rate_interval", { enabled: true, interval_minutes: 30 }, "AB", ["BP86,1,30"]],
  ["set_temperature_interval", { enabled: false }, "AB", ["BP87,0,0"]],
  ["factory_reset", {}, "ABC", ["BP17"]],
  ["power_off", {}, "ABC", ["BP31"]],
  ["restart", {}, "ABC", ["BP18"]],
];

/** Sends the rows one after the other; `answer` says what the device answers to a frame. */
async function exchange(
  uid: string,
  device: WireDevice,
  rows: readonly (readonly [type: string, params: object, frames: string[]])[],
  answer: (frame: string) => string,
): Promise<void> {
  for (const [type, params, frames] of rows) {
    const before = device.frames.length;
    const id = await world.command(uid, type, params);
    const done = async (): Promise<string[]> => {
      const sent = device.frames.slice(before);
      return sent.length >= frames.length ? sent : [];
    };
    await expect.poll(done, { timeout: 10_000, interval: 5 }).toHaveLength(frames.length);
    const sent = device.frames.slice(before);
    const serial = serialIn(sent[0] ?? "");
    expect(sent).toEqual(frames.map((frame) => frame.replace("SERIAL", serial)));
    for (const frame of sent) device.write(answer(frame));
    expect(await world.until(uid, id, "ack_ok")).toMatchObject({ attempts: 1, error: null });
  }
}

test.each([
  ["A", "iw-h10"],
  ["B", "iw-pt880"],
  ["C", "iw-kids"],
])("IW dialect %s", async (dialect, model) => {
  const uid = await world.device(model);
  const device = await iwDevice(gateway, uid);
  const rows = iwRows
    .filter(([, , dialects]) => dialects.includes(dialect))
    .map(([type, params, , frames]) => {
      const wired = frames.map((frame) => `IW${frame.replace(/^(BP..)/, `$1,${uid},SERIAL`)}#`);
      return [type, params, wired] as const;
    });
  const mode = (frame: string): string => (frame.startsWith("IWBP33") ? `,${frame.at(-2)}` : "");
  await exchange(uid, device, rows, (frame) => `IWAP${frame.slice(4, 6)},${serialIn(frame)}${mode(frame)}#`);
  if (dialect === "C") {
    const id = await world.command(uid, "send_message", { text: "Ciao", sender_name: "Jo" });
    const frame = await device.until("IWBP28");
    expect(frame).toBe(`IWBP28,004A006F,${serialIn(frame)},0,0,16,004300690061006f#`);
    device.write(`IWAP28,004A006F,${serialIn(frame)},0,0,1#`);
    await world.until(uid, id, "ack_ok");
    const refused = await world.command(uid, "send_message", { text: "Ciao", sender_name: "Jo" });
    const second = await device.until("IWBP28", 2);
    device.write(`IWAP28,004A006F,${serialIn(second)},0,0,0#`);
    expect((await world.until(uid, refused, "ack_error")).error.code).toBe("device_rejected");
  }
  const promised = testCatalog()
    .capabilitiesOf(model)
    .filter(({ kind, supported }) => kind === "command" && supported);
  const covered = new Set([...rows.map(([type]) => type), "send_message"]);
  expect(promised.map(({ code }) => code).filter((code) => !covered.has(code))).toEqual([]);
  await device.close();
});

const contacts = Array.from({ length: 6 }, (_, index) => ({ name: "Jo", phone: String(index) }));
const watchRows: [type: string, params: object, contents: string[]][] = [
  ["locate_now", {}, ["CR"]],
  ["find_device", {}, ["FIND"]],
  ["send_message", { text: "Ciao" }, ["MESSAGE,004300690061006f"]],
  ["set_working_mode", { mode: "normal" }, ["UPLOAD,600"]],
  ["set_working_mode", { mode: "power_saving" }, ["UPLOAD,3600"]],
  ["set_working_mode", { mode: "emergency" }, ["UPLOAD,60"]],
  ["set_timezone", { utc_offset_minutes: 345 }, ["LZ,0,+5.75"]],
  ["test_heart_rate", {}, ["hrtstart,1"]],
  ["test_blood_pressure", {}, ["hrtstart,1"]],
  ["test_temperature", {}, ["bodytemp2"]],
  ["test_blood_oxygen", {}, ["oxygen"]],
  ["set_report_interval", { interval_seconds: 300 }, ["UPLOAD,300"]],
  ["set_sos_numbers", { numbers: ["112", "118"] }, ["SOS,112,118,"]],
  ["set_contacts", { contacts }, ["PHB,0,004a006f,1,004a006f,2,004a006f,3,004a006f,4,004a006f", "PHB2,5,004a006f"]],
  ["set_fall_detection", { enabled: true, sensitivity: 1 }, ["FALLDOWN,1,1"]],
  ["set_heart_rate_interval", { enabled: true, interval_minutes: 30 }, ["hrtstart,1800"]],
  ["factory_reset", {}, ["FACTORY"]],
  ["power_off", {}, ["POWEROFF"]],
  ["restart", {}, ["RESET"]],
];

test("watch", async () => {
  const uid = await world.device("watch-generic");
  const device = await setrackerDevice(gateway, uid);
  const rows = watchRows.map(
    ([type, params, contents]) => [type, params, contents.map((content) => watchFrame(uid, content))] as const,
  );
  const wordOf = (frame: string): string => frame.split("*")[3]?.replace("]", "").split(",")[0] ?? "";
  await exchange(uid, device, rows, (frame) => watchFrame(uid, wordOf(frame)));
  const promised = testCatalog().capabilitiesOf("watch-generic");
  const types = promised.filter(({ kind, supported }) => kind === "command" && supported).map(({ code }) => code);
  expect(types.filter((type) => !watchRows.some(([one]) => one === type))).toEqual([]);
  await device.close();
});

test("a watch that answers with the reading itself", async () => {
  const uid = await world.device("watch-generic");
  const device = await setrackerDevice(gateway, uid);
  const id = await world.command(uid, "test_temperature");
  await device.until(watchFrame(uid, "bodytemp2"));
  device.write(watchFrame(uid, "bodytemp2,1,36.5"));
  await world.until(uid, id, "ack_ok");
  await expect.poll(async () => (await world.get(uid, id)).result?.metrics).toEqual({ temp: 36.5 });
  await device.close();
});

test("an answer to another command changes nothing", async () => {
  const uid = await world.device("watch-generic");
  const device = await setrackerDevice(gateway, uid);
  const id = await world.command(uid, "locate_now");
  await world.until(uid, id, "sent");
  device.write(watchFrame(uid, "UPLOAD,600") + watchFrame(uid, "LK"));
  await device.until(watchFrame(uid, "LK"), 2);
  expect((await world.get(uid, id)).status).toBe("sent");
  device.write(watchFrame(uid, "CR"));
  await world.until(uid, id, "ack_ok");
  await device.close();
});
