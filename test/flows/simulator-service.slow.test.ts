import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { makeClock } from "../../src/lib/clock.ts";
import type { React } from "../../src/simulator/device-protocol.ts";
import { fleetMember, rome } from "../../src/simulator/fleet.ts";
import { startSimulation } from "../../src/simulator/simulation.ts";
import type { VirtualDevice } from "../../src/simulator/virtual-device.ts";
import { makeAmr } from "../../src/simulator/voice.ts";
import { testCatalog } from "../support/catalog.ts";
import type { TestGateway } from "../support/gateway.ts";
import { type MessageWorld, openMessageWorld } from "../support/message-world.ts";
import { readAudio, uploadVoice } from "../support/voice-upload.ts";

/** Simulated watches against the whole service: what one says, the other understands, command by command. */
const clock = makeClock();
// Noon on a Monday in Rome: everybody is awake, and no incident is near.
const lifeStartMs = Date.parse("2026-03-02T11:00:00Z");
const timings = { measureMs: 20, restartMs: 50, powerOffMs: 50, backoffMs: [50], connectTimeoutMs: 10_000 };
const params: Record<string, object> = {
  send_message: { text: "Come va?" },
  set_working_mode: { mode: "emergency" },
  set_timezone: { timezone: "Asia/Kolkata" },
  calibrate_bp: { sbp: 118, dbp: 76 },
  set_report_interval: { interval_seconds: 7200 },
  set_sos_numbers: { numbers: ["112"] },
  set_contacts: { contacts: [{ name: "Ada", phone: "112" }] },
  set_fall_detection: { enabled: true },
  set_heart_rate_interval: { enabled: true, interval_minutes: 60 },
  set_temperature_interval: { enabled: false },
};

let world: MessageWorld;
let gateway: TestGateway;
const closers: (() => void)[] = [];

beforeAll(async () => {
  world = await openMessageWorld();
  gateway = await world.openGateway();
});
afterAll(async () => {
  for (const close of closers) close();
  await world.close();
});

/** A watch of the model that is connected and silent but for what it is told. */
async function connect(model: string, react?: React): Promise<VirtualDevice> {
  const imei = await world.device(model);
  const protocol = model.startsWith("iw") ? "iw" : "watch";
  const member = {
    ...fleetMember(11, 1, protocol, { ...rome, utcOffsetMinutes: 60 }),
    imei,
    id: protocol === "watch" ? imei.slice(4, 14) : imei,
    modelSlug: model,
  };
  const { port } = gateway.address;
  const options = { host: "127.0.0.1", port, clock, intervalMs: 3_600_000, lifeStartMs, timings };
  const simulation = startSimulation({ fleet: [member], ...options, ...(react ? { react } : {}) });
  closers.push(() => simulation.close());
  const device = simulation.devices[0] as VirtualDevice;
  await untilOnline(device);
  return device;
}
const untilOnline = (device: VirtualDevice) => vi.waitUntil(() => device.isOnline, { timeout: 10_000, interval: 10 });

describe.each(["iw-h10", "iw-pt880", "watch-generic"])("a simulated %s", (model) => {
  let device: VirtualDevice;
  let uid: string;
  beforeAll(async () => {
    device = await connect(model);
    uid = device.member.imei;
  });

  const types = testCatalog()
    .capabilitiesOf(model)
    .filter(({ kind, supported }) => kind === "command" && supported)
    .map(({ code }) => code);

  it.each(types)("acknowledges %s", async (type) => {
    const id = await world.command(uid, type, params[type]);
    expect((await world.until(uid, id, "ack_ok")).error).toBeNull();
    if (["restart", "power_off", "factory_reset"].includes(type)) await untilOnline(device);
  });

  it("reports its place, and measures, on command", async () => {
    const { token } = world.integration;
    const history = async () =>
      (await world.api.call("GET", `/api/v1/devices/${uid}/telemetry/`, { token })).body.results;
    await vi.waitFor(
      async () => {
        const keys = new Set((await history()).flatMap(({ data }: { data: object }) => Object.keys(data)));
        for (const key of ["hr", "sbp", "spo2", "temp", "bat"]) expect([...keys]).toContain(key);
      },
      { timeout: 10_000, interval: 20 },
    );
  });

  it("takes texts and voice, and answers with voice", async () => {
    const { token } = world.integration;
    const text = await world.sendText(uid, "Ciao, come va?");
    await world.untilStatus(uid, text, "delivered");
    expect(device.inbox.lastText).toBe("Ciao, come va?");
    const uploaded = await uploadVoice(world.api, { token, uid, file: makeAmr(3, 2), fileName: "voice.amr" });
    expect(uploaded.status).toBe(201);
    const sent = await world.untilStatus(uid, uploaded.body.id, "delivered");
    expect(device.inbox.lastVoice?.equals((await readAudio(world.api, token, sent.audio.url)).bytes)).toBe(true);
    const amr = makeAmr(4, 3);
    device.say(amr);
    await vi.waitFor(async () => expect(await world.inbound(uid)).toHaveLength(1), { timeout: 10_000 });
    const [received] = await world.inbound(uid);
    expect((await readAudio(world.api, token, received.audio.url)).bytes.equals(amr)).toBe(true);
  });
});

it("a watch that refuses ends the command with an error, one that is late is still in time", async () => {
  const device = await connect("iw-h10", ({ word }) => (word === "33" ? "refuse" : { afterMs: 100 }));
  const uid = device.member.imei;
  const refused = await world.command(uid, "set_working_mode", { mode: "normal" });
  expect((await world.until(uid, refused, "ack_error")).error.code).toBe("device_rejected");
  await world.until(uid, await world.command(uid, "locate_now"), "ack_ok");
});
