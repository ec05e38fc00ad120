import { afterAll, beforeAll, expect, test } from "vitest";
import { makeCommandLane } from "../../src/gateway/command-lane.ts";
import type { DeviceLink, DownlinkLane } from "../../src/gateway/downlink.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { testCatalog } from "../support/catalog.ts";
import { type CommandWorld, openCommandWorld } from "../support/command-world.ts";

/** Connections that break in the middle of a write, which a real socket does only by chance. */
const clock = makeManualClock(new Date("2026-03-01T08:15:30.000Z"));
const nodeId = newUuid();
let world: CommandWorld;
let lane: DownlinkLane;
const links = new Map<string, FakeLink>();

class FakeLink implements DeviceLink {
  readonly device: DeviceLink["device"];
  readonly modelSlug = "iw-h10";
  readonly protocol = "iw";
  readonly epoch = 1;
  isOpen = true;
  readonly outstandingSerials = new Set<string>();
  /** What becomes of each write. */
  readonly outcomes: boolean[];
  writes = 0;
  encodings = 0;

  constructor(device: DeviceLink["device"], outcomes: boolean[]) {
    this.device = device;
    this.outcomes = outcomes;
  }

  encode(): Buffer[] {
    this.encodings++;
    return [Buffer.from("frame")];
  }

  answersTo() {
    return [{ word: "AP00" }];
  }

  async send(): Promise<boolean> {
    this.writes++;
    return this.outcomes.shift() ?? true;
  }
}

beforeAll(async () => {
  world = await openCommandWorld(clock);
  lane = makeCommandLane({ ackTimeoutSeconds: 60 })({
    db: world.api.db,
    clock,
    log: makeLogger("silent"),
    metrics: new Metrics(),
    catalog: testCatalog(),
    nodeId,
    links: () => links.values(),
    linkOf: (id) => links.get(id),
  });
});
afterAll(async () => {
  await lane.close();
  await world.close();
});

async function connected(outcomes: boolean[], epoch = 1): Promise<[uid: string, link: FakeLink]> {
  const uid = await world.device();
  const { id } = await world.api.db.one<{ id: string }>`select id from devices where uid = ${uid}`;
  await world.api.db.run`
    insert into device_sessions (device_id, organization_id, node_id, epoch, protocol, remote_addr, connected_at)
    values (${id}, ${world.organization.id}, ${nodeId}, ${epoch}, 'iw', '', ${clock.now()})`;
  const link = new FakeLink({ id, organizationId: world.organization.id, uid, name: "Watch" }, outcomes);
  links.set(id, link);
  return [uid, link];
}

test("a write that breaks counts as sent, and ends as a transport error", async () => {
  const [uid, link] = await connected([false]);
  const id = await world.command(uid, "restart");
  lane.onWake(link);
  await world.until(uid, id, "sent");
  expect(link.outstandingSerials.size).toBe(1);
  clock.advanceMs(60_000);
  const over = await world.until(uid, id, "timeout");
  expect([over.error.code, over.attempts, link.writes]).toEqual(["transport_error", 1, 1]);
  await expect.poll(() => link.outstandingSerials.size).toBe(0);
});

test("a second write that goes through makes it an ordinary time-out", async () => {
  const [uid, link] = await connected([false, true]);
  const id = await world.command(uid, "locate_now");
  lane.onWake(link);
  await world.until(uid, id, "sent");
  clock.advanceMs(60_000);
  await expect.poll(async () => (await world.get(uid, id)).attempts, { timeout: 5000 }).toBe(2);
  expect((await world.get(uid, id)).status).toBe("sent");
  await expect.poll(() => link.writes).toBe(2);
  clock.advanceMs(60_000);
  const over = await world.until(uid, id, "timeout");
  expect([over.error.code, over.attempts, link.writes]).toEqual(["ack_timeout", 2, 2]);
});

test("a process that has lost the device claims nothing, and does not retry", async () => {
  const [uid, link] = await connected([], 2);
  const id = await world.command(uid, "locate_now");
  lane.onWake(link);
  lane.onWake(link);
  const [other, free] = await connected([]);
  const second = await world.command(other, "locate_now");
  lane.onWake(free);
  await world.until(other, second, "sent");
  expect(await world.get(uid, id)).toMatchObject({ status: "pending", attempts: 0 });
  expect(link.writes).toBe(0);
  expect(link.encodings).toBeGreaterThan(0);
  expect(link.encodings).toBeLessThan(20);
});
