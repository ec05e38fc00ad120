import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { rulesOf, type SpokenSlug } from "../../src/codecs/protocols.ts";
import { makeClock } from "../../src/lib/clock.ts";
import type { React } from "../../src/simulator/device-protocol.ts";
import { fleetMember, rome } from "../../src/simulator/fleet.ts";
import { type Simulation, startSimulation } from "../../src/simulator/simulation.ts";
import type { VirtualDevice } from "../../src/simulator/virtual-device.ts";
import { testCatalog } from "./catalog.ts";
import { type CommandWorld, openCommandWorld } from "./command-world.ts";
import type { TestGateway } from "./gateway.ts";

// Noon on a Monday in Rome: everybody is awake, and no incident is near.
const lifeStartMs = Date.parse("2026-03-02T11:00:00Z");
const timings = { restartMs: 50, powerOffMs: 50, backoffMs: [50], connectTimeoutMs: 10_000 };
const params: Record<string, object> = {
  set_working_mode: { mode: "emergency" },
  set_timezone: { timezone: "Asia/Kolkata" },
  set_report_interval: { interval_seconds: 7200 },
};
const wait = { timeout: 20_000, interval: 20 };

/** A virtual tracker of the model against the whole service: reports, alarms, and every command of the catalog. */
export function checkVirtualTracker(protocol: SpokenSlug, model: string): void {
  const clock = makeClock();
  let world: CommandWorld;
  let gateway: TestGateway;
  const simulations: Simulation[] = [];

  beforeAll(async () => {
    world = await openCommandWorld(clock);
    gateway = await world.openGateway();
  });
  afterAll(async () => {
    for (const simulation of simulations) simulation.close();
    await world.close();
  });

  const get = async (path: string) =>
    (await world.api.call("GET", `/api/v1/${path}`, { token: world.integration.token })).body;

  async function connect(intervalMs: number, react?: React): Promise<VirtualDevice> {
    const imei = await world.device(model);
    const id = rulesOf(protocol).terminalIds.defaultFor(imei) ?? imei;
    const member = { ...fleetMember(11, 1, protocol, { ...rome, utcOffsetMinutes: 60 }), imei, id, modelSlug: model };
    const { port } = gateway.address;
    const options = { host: "127.0.0.1", port, clock, intervalMs, lifeStartMs, timings };
    const simulation = startSimulation({ fleet: [member], ...options, ...(react ? { react } : {}) });
    simulations.push(simulation);
    const device = simulation.devices[0] as VirtualDevice;
    await vi.waitUntil(() => device.isOnline, wait);
    return device;
  }

  describe(`a virtual ${model}`, () => {
    it("reports where it is and how it is, and every packet is acknowledged", async () => {
      const device = await connect(200);
      const uid = device.member.imei;
      const { tally } = simulations.at(-1) as Simulation;
      await vi.waitUntil(() => tally.acked > 8, wait);
      expect(tally).toMatchObject({ unreadable: 0, refusedLogins: 0, resent: 0 });
      device.raiseAlarm("sos");
      await vi.waitUntil(
        async () => (await get(`events/?device_uid=${uid}&event_type=sos`)).results.length === 1,
        wait,
      );
      expect(await get(`devices/${uid}/`)).toMatchObject({ is_online: true });
      device.close();
    });

    it("obeys every command of the catalog", { timeout: 60_000 }, async () => {
      const device = await connect(3_600_000);
      const uid = device.member.imei;
      for (const capability of testCatalog().capabilitiesOf(model)) {
        if (capability.kind !== "command" || !capability.supported) continue;
        const { code } = capability;
        const id = await world.command(uid, code, params[code]);
        expect((await world.until(uid, id, "ack_ok")).error, code).toBeNull();
        if (code === "set_working_mode") expect(device.intervalMs).toBe(60_000);
        if (code === "set_report_interval") expect(device.intervalMs).toBe(7_200_000);
        if (["restart", "factory_reset"].includes(code)) await vi.waitUntil(() => device.isOnline, wait);
      }
      await vi.waitFor(async () => expect((await get(`devices/${uid}/`)).last_seen_at).not.toBeNull(), wait);
    });

    it("ends a command with an error when it refuses", async () => {
      const { imei } = (await connect(3_600_000, () => "refuse")).member;
      const id = await world.command(imei, "restart");
      expect((await world.until(imei, id, "ack_error")).error.code).toBe("device_rejected");
    });
  });
}
