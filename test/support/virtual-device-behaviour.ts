import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { SpokenSlug } from "../../src/codecs/protocols.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { fleetMember, rome } from "../../src/simulator/fleet.ts";
import { type Simulation, startSimulation } from "../../src/simulator/simulation.ts";
import type { VirtualDevice } from "../../src/simulator/virtual-device.ts";
import { testCatalog } from "./catalog.ts";
import { type CommandWorld, openCommandWorld } from "./command-world.ts";
import type { TestGateway } from "./gateway.ts";

const params: Readonly<Record<string, object>> = {
  set_timezone: { timezone: "Asia/Kolkata" },
  set_report_interval: { interval_seconds: 7200 },
  set_working_mode: { mode: "emergency" },
};
const waiting = { timeout: 20_000, interval: 20 };
// Noon on a Monday in Rome: everybody is awake.
const lifeStartMs = Date.parse("2026-03-02T11:00:00Z");
const timings = { measureMs: 20, restartMs: 50, powerOffMs: 50, backoffMs: [50], connectTimeoutMs: 10_000 };

/** Virtual devices of a protocol against the service: reports, alarms, readings and every command of the catalog. */
export function describeVirtualDevice(protocol: SpokenSlug, models: readonly string[]): void {
  let world: CommandWorld;
  let gateway: TestGateway;
  beforeAll(async () => {
    world = await openCommandWorld();
    gateway = await world.openGateway();
  });
  afterAll(() => world.close());

  describe.each(models)("a simulated %s", (modelSlug) => {
    let simulation: Simulation;
    let device: VirtualDevice;
    let uid: string;

    beforeAll(async () => {
      uid = await world.device(modelSlug);
      const member = fleetMember(11, 1, protocol, { ...rome, utcOffsetMinutes: 60 });
      simulation = startSimulation({
        fleet: [{ ...member, imei: uid, id: uid, modelSlug }],
        host: "127.0.0.1",
        port: gateway.address.port,
        clock: makeClock(),
        intervalMs: 500,
        lifeStartMs,
        timings,
      });
      device = simulation.devices[0] as VirtualDevice;
      await untilOnline();
    });
    afterAll(() => simulation.close());

    const untilOnline = () => vi.waitUntil(() => device.isOnline, waiting);
    const get = async (path: string) => (await world.api.call("GET", path, { token: world.integration.token })).body;

    it("reports where it is and how its battery is", async () => {
      const status = () => get(`/api/v1/devices/${uid}/`);
      await vi.waitUntil(async () => (await status()).last_status.bat !== undefined, waiting);
      expect((await status()).is_online).toBe(true);
    });

    it("raises alarms", async () => {
      device.raiseAlarm("sos");
      const events = () => get(`/api/v1/events/?device_uid=${uid}&event_type=sos`);
      await vi.waitUntil(async () => (await events()).results.length === 1, waiting);
    });

    const types = testCatalog()
      .capabilitiesOf(modelSlug)
      .filter(({ kind, supported }) => kind === "command" && supported)
      .map(({ code }) => code);
    const obeyed = types.length === 0 ? ["none"] : types;

    it.each(obeyed)("obeys %s", async (type) => {
      if (type === "none") return expect(simulation.tally.commands).toBe(0);
      await untilOnline();
      const id = await world.command(uid, type, params[type]);
      expect((await world.until(uid, id, "ack_ok")).error).toBeNull();
    });

    it("understands all that it is told", async () => {
      await untilOnline();
      const { tally } = simulation;
      await vi.waitUntil(() => tally.sent > 5, waiting);
      expect({ unreadable: tally.unreadable, refused: tally.refusedLogins }).toEqual({ unreadable: 0, refused: 0 });
    });
  });
}
