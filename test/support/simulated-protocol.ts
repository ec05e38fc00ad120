import { expect, vi } from "vitest";
import { makeClock } from "../../src/lib/clock.ts";
import { type FleetProtocol, makeFleet, rome } from "../../src/simulator/fleet.ts";
import { startSimulation } from "../../src/simulator/simulation.ts";
import { openCommandWorld } from "./command-world.ts";
import { register } from "./devices.ts";

export interface SimulatedRun {
  /** With parameters, in this order; each must be acknowledged. */
  commands: readonly (readonly [type: string, params?: object])[];
  /** Numbers of event types. */
  alarms: { sos: number; fall: number };
}

/** A few devices of one protocol against the real gateway: they report, raise alarms and obey what the API tells them. */
export async function runSimulated(protocol: FleetProtocol, { commands, alarms }: SimulatedRun): Promise<void> {
  const clock = makeClock();
  const world = await openCommandWorld(clock);
  const gateway = await world.openGateway();
  const fleet = makeFleet(7, 3, protocol, { ...rome, utcOffsetMinutes: 60 });
  for (const { imei, modelSlug } of fleet) {
    const { status } = await register(world.api, world.integration.token, imei, { device_model_slug: modelSlug });
    expect(status).toBe(201);
  }
  const timings = { restartMs: 300, powerOffMs: 600, backoffMs: [200], answerTimeoutMs: 10_000 };
  const options = { fleet, host: "127.0.0.1", port: gateway.address.port, clock, intervalMs: 500, timings };
  const simulation = startSimulation(options);
  const until = (condition: () => boolean | Promise<boolean>): Promise<unknown> =>
    vi.waitUntil(condition, { timeout: 30_000, interval: 50 });
  try {
    await until(() => simulation.devices.every(({ isOnline }) => isOnline));
    await until(() => simulation.tally.acked > 12);
    const [device] = simulation.devices;
    const uid = fleet[0]?.imei ?? "";
    device?.raiseAlarm("sos");
    device?.raiseAlarm("fall");
    const types = async (): Promise<number[]> => {
      const rows = await world.api.db.many<{ event_type: number }>`
        select e.event_type from events e join devices d on d.id = e.device_id where d.uid = ${uid}`;
      return rows.map(({ event_type }) => event_type);
    };
    await until(async () => {
      const found = await types();
      return found.includes(alarms.sos) && found.includes(alarms.fall);
    });
    for (const [type, params] of commands) {
      await until(() => device?.isOnline === true);
      const id = await world.command(uid, type, params);
      await until(async () => (await world.get(uid, id)).terminal);
      expect([type, (await world.get(uid, id)).status]).toEqual([type, "ack_ok"]);
    }
    // Several packets may carry the same second, so rows are held against packets. Crash rounds look for doubled ones exactly.
    expect(simulation.tally.unreadable).toBe(0);
    const stored = await world.api.db.one<{ count: number }>`select count(*)::int as count from locations`;
    expect(stored.count).toBeLessThanOrEqual(simulation.tally.sent);
  } finally {
    simulation.close();
    await world.close();
  }
}
