import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { rulesOf, type SpokenSlug } from "../../src/codecs/protocols.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { fleetMember, fleetProtocolsOver, makeProtocols, rome } from "../../src/simulator/fleet.ts";
import { type Simulation, startSimulation } from "../../src/simulator/simulation.ts";
import { makeUdpLinks } from "../../src/simulator/udp-link.ts";
import type { VirtualDevice } from "../../src/simulator/virtual-device.ts";
import { NumberedDevice } from "../faults/numbered-device.ts";
import { answered } from "../faults/numbered-fleet.ts";
import { testCatalog } from "../support/catalog.ts";
import { type CommandWorld, openCommandWorld } from "../support/command-world.ts";
import type { TestGateway } from "../support/gateway.ts";

/** Virtual devices of every protocol that speaks UDP, against the whole service. */
const clock = makeClock();
const spoken = fleetProtocolsOver("udp").filter((slug) => slug !== "mixed") as SpokenSlug[];
const wait = { timeout: 20_000, interval: 20 };
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

async function registered(slug: SpokenSlug) {
  const city = { ...rome, utcOffsetMinutes: 60 };
  const planned = answered(fleetMember(11, 1, slug, city, "udp"), "udp");
  const imei = await world.device(planned.modelSlug);
  return { ...planned, imei, id: rulesOf(slug).terminalIds.defaultFor(imei) ?? imei };
}

describe.each(spoken)("%s over UDP", (slug) => {
  it("stores every report that was answered, exactly once, from changing addresses", async () => {
    const member = await registered(slug);
    const openLink = makeUdpLinks("127.0.0.1", gateway.address.port);
    const baseMs = Math.floor(clock.nowMs() / 1000) * 1000 - 3 * 86_400_000;
    const protocol = makeProtocols("udp")(member);
    const options = { member, protocol, transport: "udp", openLink, hasClock: true, baseMs } as const;
    const device = new NumberedDevice({ ...options, random: () => 0.5 });
    for (const enough of [15, 30, 45]) {
      await vi.waitUntil(() => device.acknowledged.size >= enough, wait);
      device.move();
    }
    await vi.waitUntil(() => device.acknowledged.size >= 50, wait);
    device.stop();
    await vi.waitUntil(() => device.isIdle, wait);
    device.close();
    const stored = await world.api.db.many<{ at: number; count: number }>`
      select extract(epoch from l.device_ts)::float8 * 1000 as at, count(*)::int as count from locations l
      join devices d on d.id = l.device_id where d.uid = ${member.imei} and l.device_ts < ${new Date(clock.nowMs() - 43_200_000)} group by 1`;
    expect(stored.filter(({ count }) => count !== 1)).toEqual([]);
    const times = new Set(stored.map(({ at }) => at));
    expect([...device.acknowledged].filter((n) => !times.has(device.timeOf(n)))).toEqual([]);
  });

  it("lets a virtual device live, obey, and be seen online", async () => {
    const member = await registered(slug);
    const { port } = gateway.address;
    const simulation = startSimulation({
      fleet: [member],
      host: "127.0.0.1",
      port,
      transport: "udp",
      clock,
      intervalMs: 100,
      // Noon on a Monday in Rome.
      lifeStartMs: Date.parse("2026-03-02T11:00:00Z"),
      timings: { restartMs: 50, backoffMs: [50] },
    });
    simulations.push(simulation);
    const device = simulation.devices[0] as VirtualDevice;
    await vi.waitUntil(() => device.isOnline && simulation.tally.acked > 5, wait);
    const { token } = world.integration;
    const { body } = await world.api.call("GET", `/api/v1/devices/${member.imei}/`, { token });
    expect(body).toMatchObject({ is_online: true });
    expect(simulation.tally).toMatchObject({ unreadable: 0, refusedLogins: 0 });
    const locate = testCatalog()
      .capabilitiesOf(member.modelSlug)
      .find(({ code, supported }) => code === "locate_now" && supported);
    if (!locate) return;
    const id = await world.command(member.imei, "locate_now");
    expect((await world.until(member.imei, id, "ack_ok")).error).toBeNull();
    device.close();
  });
});
