import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import type { Catalog } from "../../src/resources/catalog/catalog.ts";
import { testCatalog } from "../support/catalog.ts";
import { type CommandWorld, iwDevice, openCommandWorld, serialIn } from "../support/command-world.ts";
import type { TestGateway } from "../support/gateway.ts";

/** The paths of a command to its end, with watches of IW dialect A. The clock stands still unless it is moved. */
const clock = makeManualClock(new Date("2026-03-01T08:15:30.000Z"));
let world: CommandWorld;
let gateway: TestGateway;

beforeAll(async () => {
  world = await openCommandWorld(clock);
  gateway = await world.openGateway();
});
afterAll(() => world.close());

const typeOf = (frame: string): string => frame.slice(2, 6);
/** Frames of commands, without the answers to packets. */
const commandFrames = (frames: readonly string[]): string[] =>
  frames
    .filter((frame) => frame.split(",").length > 2)
    .map(typeOf)
    .filter((code) => code !== "BP00");

describe("one command", () => {
  test("goes to a connected device at once, ends with its answer, and is reported once", async () => {
    const uid = await world.device();
    const device = await iwDevice(gateway, uid);
    const id = await world.command(uid, "locate_now");
    const frame = await device.until("IWBP16");
    expect(frame).toBe(`IWBP16,${uid},${serialIn(frame)}#`);
    expect(serialIn(frame)).toMatch(/^\d{6}$/);
    await world.until(uid, id, "sent");
    const removal = await world.api.call("DELETE", `/api/v1/devices/${uid}/commands/${id}/`, {
      token: world.integration.token,
    });
    expect(removal.body.code).toBe("command_in_flight");
    clock.advanceMs(620);
    device.write(`IWAP16,${serialIn(frame)}#`);
    const done = await world.until(uid, id, "ack_ok");
    expect(done).toMatchObject({ terminal: true, queue_position: null, attempts: 1, result: null, error: null });
    expect(done).toMatchObject({ acked_at: clock.now().toISOString(), completed_at: clock.now().toISOString() });
    device.write(`IWAP16,${serialIn(frame)}#IWAP16,${serialIn(frame)}#IWAP03,07500908100001,00001,00#`);
    await device.until("IWBP03");
    expect(await world.get(uid, id)).toEqual(done);
    expect(await world.outbound(uid)).toEqual([
      expect.objectContaining({
        type: "command.ack",
        occurred_at: done.acked_at,
        data: {
          command_uuid: id,
          command_type: "locate_now",
          status: "ack_ok",
          params: {},
          result: null,
          error: null,
          created_at: done.created_at,
          sent_at: done.sent_at,
          acked_at: done.acked_at,
          completed_at: done.completed_at,
        },
      }),
    ]);
    await device.close();
  });

  test("is written a second time with the same serial, and either answer counts", async () => {
    const uid = await world.device();
    const device = await iwDevice(gateway, uid);
    const id = await world.command(uid, "locate_now");
    const first = await device.until("IWBP16");
    await world.until(uid, id, "sent");
    clock.advanceMs(59_999);
    await world.sweep();
    expect(await world.get(uid, id)).toMatchObject({ status: "sent", attempts: 1 });
    clock.advanceMs(1);
    expect(await device.until("IWBP16", 2)).toBe(first);
    await vi.waitUntil(async () => (await world.get(uid, id)).attempts === 2, { timeout: 10_000, interval: 20 });
    device.write(`IWAP16,${serialIn(first)}#`);
    expect(await world.until(uid, id, "ack_ok")).toMatchObject({ attempts: 2 });
    await device.close();
  });

  test("times out after its second write, and a late answer changes nothing", async () => {
    const uid = await world.device();
    const device = await iwDevice(gateway, uid);
    const id = await world.command(uid, "test_heart_rate");
    const frame = await device.until("IWBPXL");
    await world.until(uid, id, "sent");
    clock.advanceMs(60_000);
    await device.until("IWBPXL", 2);
    clock.advanceMs(60_000);
    const over = await world.until(uid, id, "timeout");
    expect(over.error).toEqual({ code: "ack_timeout", message: "No acknowledgement within 60 s.", details: {} });
    expect(over).toMatchObject({ attempts: 2, acked_at: null, completed_at: clock.now().toISOString() });
    device.write(`IWAPXL,${serialIn(frame)}#IWAP03,07500908100001,00001,00#`);
    await device.until("IWBP03");
    expect(await world.get(uid, id)).toEqual(over);
    expect((await world.outbound(uid)).map(({ type }) => type)).toEqual(["command.failed"]);
    await device.close();
  });

  test.each(["restart", "power_off", "factory_reset", "send_message"])("%s is written once only", async (type) => {
    const uid = await world.device();
    const device = await iwDevice(gateway, uid);
    const id = await world.command(uid, type, type === "send_message" ? { text: "Hi" } : {});
    await world.until(uid, id, "sent");
    clock.advanceMs(60_000);
    const over = await world.until(uid, id, "timeout");
    expect(over).toMatchObject({ attempts: 1, error: { code: "ack_timeout" } });
    expect(commandFrames(device.frames)).toHaveLength(1);
    await device.close();
  });

  test("times out without a second write while the device is away", async () => {
    const uid = await world.device();
    const device = await iwDevice(gateway, uid);
    const id = await world.command(uid, "locate_now");
    await world.until(uid, id, "sent");
    await device.close();
    await vi.waitUntil(
      async () => {
        clock.advanceMs(20_000);
        await world.sweep();
        return (await world.get(uid, id)).status === "timeout";
      },
      { timeout: 10_000, interval: 100 },
    );
    expect(await world.get(uid, id)).toMatchObject({ attempts: 1, error: { code: "ack_timeout" } });
  });

  test("waits for a device that reconnects, and is written again on its new connection", async () => {
    const uid = await world.device();
    const device = await iwDevice(gateway, uid);
    const id = await world.command(uid, "locate_now");
    const frame = await device.until("IWBP16");
    await world.until(uid, id, "sent");
    await device.close();
    const again = await iwDevice(gateway, uid);
    clock.advanceMs(60_000);
    expect(await again.until("IWBP16")).toBe(frame);
    again.write(`IWAP16,${serialIn(frame)}#`);
    expect(await world.until(uid, id, "ack_ok")).toMatchObject({ attempts: 2 });
    await again.close();
  });
});

describe("refusals", () => {
  test("an echo of another mode, or none at all", async () => {
    const uid = await world.device();
    const device = await iwDevice(gateway, uid);
    let written = 0;
    const set = async (mode: string): Promise<[string, string]> => {
      const id = await world.command(uid, "set_working_mode", { mode });
      await world.until(uid, id, "sent");
      return [id, serialIn(await device.until("IWBP33", ++written))];
    };
    const [other, first] = await set("normal");
    device.write(`IWAP33,${first},2#`);
    const refused = await world.until(uid, other, "ack_error");
    expect(refused.error).toEqual({ code: "device_rejected", message: "The device refused the command.", details: {} });
    expect(refused.acked_at).toBe(refused.completed_at);
    expect((await world.outbound(uid)).map(({ type }) => type)).toEqual(["command.failed"]);
    const [same, second] = await set("power_saving");
    device.write(`IWAP33,${second},2#`);
    await world.until(uid, same, "ack_ok");
    const [silent, third] = await set("emergency");
    device.write(`IWAP33,${third}#`);
    await world.until(uid, silent, "ack_ok");
    await device.close();
  });

  test("a command that the model does not support ends before it is written", async () => {
    const uid = await world.device("iw-kids");
    await world.api.db.run`
      insert into device_capability_overrides (device_id, organization_id, code, supported, params_schema, updated_at)
      select id, organization_id, 'test_heart_rate', true, null, ${clock.now()} from devices where uid = ${uid}`;
    const device = await iwDevice(gateway, uid);
    const id = await world.command(uid, "test_heart_rate");
    const refused = await world.until(uid, id, "ack_error");
    expect(refused).toMatchObject({ attempts: 0, sent_at: null, acked_at: null, error: { code: "not_supported" } });
    expect(commandFrames(device.frames)).toEqual([]);
    await device.close();
  });
});

describe("the queue", () => {
  test("waits for an offline device and goes out in order, one at a time", async () => {
    const uid = await world.device();
    const types = ["locate_now", "restart", "test_heart_rate", "power_off"];
    const ids: string[] = [];
    for (const type of types) ids.push(await world.command(uid, type));
    const deleted = await world.command(uid, "factory_reset");
    const last = await world.command(uid, "test_temperature");
    await world.api.call("DELETE", `/api/v1/devices/${uid}/commands/${deleted}/`, { token: world.integration.token });
    const device = await iwDevice(gateway, uid);
    const codes = ["BP16", "BP18", "BPXL", "BP31", "BPXT"];
    for (const [index, id] of [...ids, last].entries()) {
      const frame = await device.until(`IW${codes[index]}`);
      expect(commandFrames(device.frames)).toEqual(codes.slice(0, index + 1));
      const inFlight = await world.until(uid, id, "sent");
      expect(inFlight.queue_position).toBe(1);
      device.write(`IW${(codes[index] ?? "").replace("BP", "AP")},${serialIn(frame)}#`);
      await world.until(uid, id, "ack_ok");
    }
    expect((await world.outbound(uid)).map(({ data }) => data.command_uuid)).toEqual([...ids, last]);
    await device.close();
  });

  test("continues after a command that was given up", async () => {
    const uid = await world.device();
    const device = await iwDevice(gateway, uid);
    const [first, second] = [await world.command(uid, "restart"), await world.command(uid, "locate_now")];
    await world.until(uid, first, "sent");
    clock.advanceMs(60_000);
    await device.until("IWBP16");
    expect(await world.get(uid, first)).toMatchObject({ status: "timeout" });
    await world.until(uid, second, "sent");
    await device.close();
  });

  test("never sends what has expired", async () => {
    const uid = await world.device();
    const expired = await world.command(uid, "restart", {}, { expires_in: 5 });
    const alive = await world.command(uid, "locate_now");
    clock.advanceMs(5000);
    const device = await iwDevice(gateway, uid);
    await device.until("IWBP16");
    expect(await world.get(uid, expired)).toMatchObject({ status: "timeout", error: { code: "expired" }, attempts: 0 });
    await world.until(uid, alive, "sent");
    expect(commandFrames(device.frames)).toEqual(["BP16"]);
    await device.close();
  });
});

describe("without acknowledgement", () => {
  test("is done when it is written", async () => {
    const catalog = testCatalog();
    const deaf: Catalog = {
      ...catalog,
      capabilitiesOf: (slug) =>
        catalog.capabilitiesOf(slug).map((one) => (one.kind === "command" ? { ...one, requires_ack: false } : one)),
    };
    const other = await world.openGateway({ catalog: deaf });
    const uid = await world.device();
    const ids = [
      await world.command(uid, "set_report_interval", { interval_seconds: 1200 }),
      await world.command(uid, "test_heart_rate"),
    ];
    const device = await iwDevice(other, uid);
    for (const id of ids) {
      const done = await world.until(uid, id, "ack_ok");
      expect(done).toMatchObject({ result: { confirmed: false }, attempts: 1, error: null });
    }
    expect(commandFrames(device.frames)).toEqual(["BP15", "BPXL"]);
    const state = await world.api.db.one`
      select report_interval_seconds from device_state where device_id = (select id from devices where uid = ${uid})`;
    expect(state).toEqual({ report_interval_seconds: 1200 });
    expect((await world.outbound(uid)).map(({ type }) => type)).toEqual(["command.ack", "command.ack"]);
    await other.close();
  });

  test("waits as long as the model says", async () => {
    const catalog = testCatalog();
    const slow: Catalog = {
      ...catalog,
      capabilitiesOf: (slug) =>
        catalog
          .capabilitiesOf(slug)
          .map((one) => (one.kind === "command" ? { ...one, ack_timeout_seconds: 300 } : one)),
    };
    const other = await world.openGateway({ catalog: slow });
    const uid = await world.device();
    const device = await iwDevice(other, uid);
    const id = await world.command(uid, "restart");
    await world.until(uid, id, "sent");
    clock.advanceMs(299_999);
    await world.sweep();
    expect((await world.get(uid, id)).status).toBe("sent");
    clock.advanceMs(1);
    const over = await world.until(uid, id, "timeout");
    expect(over.error.message).toBe("No acknowledgement within 300 s.");
    await device.close();
    await other.close();
  });
});

describe("what follows from an answer", () => {
  const config = async (uid: string) =>
    (await world.api.call("GET", `/api/v1/devices/${uid}/config/`, { token: world.integration.token })).body;

  test("moves the setting that the device has reported, and the silence it is granted", async () => {
    const uid = await world.device();
    const device = await iwDevice(gateway, uid);
    const id = await world.command(uid, "set_report_interval", { interval_seconds: 900 });
    expect((await config(uid)).settings.report_interval_seconds).toMatchObject({ desired: 900, command_uuid: id });
    const frame = await device.until("IWBP15");
    expect(frame).toBe(`IWBP15,${uid},${serialIn(frame)},900#`);
    device.write(`IWAP15,${serialIn(frame)}#`);
    const done = await world.until(uid, id, "ack_ok");
    expect((await config(uid)).settings.report_interval_seconds).toEqual({
      desired: 900,
      reported: 900,
      reported_at: done.acked_at,
      command_uuid: null,
      in_sync: true,
    });
    const interval = () => world.api.db.one`
      select report_interval_seconds from device_state where device_id = (select id from devices where uid = ${uid})`;
    expect(await interval()).toEqual({ report_interval_seconds: 900 });
    const mode = await world.command(uid, "set_working_mode", { mode: "emergency" });
    device.write(`IWAP33,${serialIn(await device.until("IWBP33"))},3#`);
    await world.until(uid, mode, "ack_ok");
    expect(await interval()).toEqual({ report_interval_seconds: 60 });
    expect((await config(uid)).settings.working_mode).toMatchObject({ reported: "emergency", in_sync: true });
    const failed = await world.command(uid, "set_report_interval", { interval_seconds: 30 });
    await world.until(uid, failed, "sent");
    clock.advanceMs(60_000);
    await device.until("IWBP15", 3);
    clock.advanceMs(60_000);
    await world.until(uid, failed, "timeout");
    expect((await config(uid)).settings.report_interval_seconds).toMatchObject({
      desired: 30,
      reported: 900,
      command_uuid: null,
      in_sync: false,
    });
    await device.close();
  });

  test("fall detection is two frames, done when both are answered", async () => {
    const uid = await world.device();
    const device = await iwDevice(gateway, uid);
    const id = await world.command(uid, "set_fall_detection", { enabled: true, sensitivity: 3 });
    const [on, level] = [await device.until("IWBP76"), await device.until("IWBP77")];
    expect([on, level]).toEqual([`IWBP76,${uid},${serialIn(on)},1#`, `IWBP77,${uid},${serialIn(on)},3#`]);
    device.write(`IWAP77,${serialIn(on)}#IWAP03,07500908100001,00001,00#`);
    await device.until("IWBP03");
    await world.until(uid, id, "sent");
    device.write(`IWAP76,${serialIn(on)}#`);
    await world.until(uid, id, "ack_ok");
    expect((await config(uid)).settings.fall_detection.reported).toEqual({ enabled: true, sensitivity: 3 });
    await device.close();
  });

  test("links the first reading of a measurement, and says when none came", async () => {
    const uid = await world.device();
    const device = await iwDevice(gateway, uid);
    const measure = async (type: string, code: string, count = 1): Promise<string> => {
      const id = await world.command(uid, type);
      device.write(`IWAP${code},${serialIn(await device.until(`IWBP${code}`, count))}#`);
      await world.until(uid, id, "ack_ok");
      return id;
    };
    device.write("IWAPHT,61,110,70#");
    await device.until("IWBPHT");
    clock.advanceMs(1000);
    const pulse = await measure("test_heart_rate", "XL");
    expect((await world.get(uid, pulse)).result).toBeNull();
    clock.advanceMs(1000);
    device.write("IWAP49,0#IWAP49,999#IWAP50,36.6,90#");
    await device.until("IWBP50");
    device.write("IWAP49,72#IWAP49,73#");
    await vi.waitUntil(async () => (await world.get(uid, pulse)).result !== null, { timeout: 5000 });
    const { result, status } = await world.get(uid, pulse);
    const reading = await world.api.db.one<{ id: string }>`
      select id from telemetry where device_id = (select id from devices where uid = ${uid}) and data->>'hr' = '72'`;
    expect([status, result]).toEqual(["ack_ok", { telemetry_id: reading.id, metrics: { hr: 72 } }]);
    clock.advanceMs(1000);
    const pressure = await measure("test_blood_pressure", "XY");
    clock.advanceMs(119_999);
    await world.sweep();
    expect((await world.get(uid, pressure)).result).toBeNull();
    clock.advanceMs(1);
    await world.sweep();
    expect((await world.get(uid, pressure)).result).toEqual({ telemetry_id: null, reason: "no_reading" });
    expect((await world.outbound(uid)).map(({ type }) => type)).toEqual(["command.ack", "command.ack"]);
    await device.close();
  });
});
