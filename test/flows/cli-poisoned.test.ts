import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { iw } from "../../src/codecs/iw/protocol.ts";
import { loadConfig } from "../../src/config.ts";
import type { BatchStep } from "../../src/ingest/batch-step.ts";
import { listPoisoned } from "../../src/ingest/poison-store.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { retryPoisoned } from "../../src/roles/poisoned-retry.ts";
import { imeis } from "../support/devices.ts";
import { iwPosition } from "../support/fleet.ts";
import { type GatewayWorld, openGatewayWorld, type TestGateway } from "../support/gateway.ts";
import { openIwWatch } from "../support/iw-watch.ts";

const nextImei = imeis();
const clock = makeClock();
let world: GatewayWorld;
let gateway: TestGateway;
const faulty: BatchStep = async (_client, packets) => {
  if (packets.some(({ messages }) => messages.some((one) => one.kind === "vitals" && one.metrics.hr === 13))) {
    throw new TypeError("Cannot read properties of undefined");
  }
};

beforeAll(async () => {
  world = await openGatewayWorld(clock);
  gateway = await world.open({ protocols: [iw], ingest: { steps: [faulty] } });
});
afterAll(() => world.close());

test("the command line stores packets that were set aside once the program can, and leaves the connection of the device alone", async () => {
  const [uid, other] = [nextImei(), nextImei()];
  const id = await world.addDevice(uid);
  await world.addDevice(other);
  const [watch, neighbour] = await Promise.all([uid, other].map((one) => openIwWatch(gateway.address.port, one)));
  if (!watch || !neighbour) throw new Error("no watches");
  watch.write("IWAP49,13#");
  await vi.waitUntil(
    async () => {
      neighbour.write("IWAP49,60#");
      return watch.received.includes("IWBP49#");
    },
    { timeout: 10_000, interval: 50 },
  );
  const [packet] = await listPoisoned(world.db, uid, 10);
  expect(packet).toMatchObject({ uid, protocol: "iw", reason: "TypeError", hasEvent: false });
  expect(packet?.frame.toString()).toBe("IWAP49,13#");
  expect(await listPoisoned(world.db, nextImei(), 10)).toEqual([]);

  expect(await watch.send(iwPosition(clock.nowMs() - 5000))).toBe("IWBP01#");
  const seenBefore = await world.db.one`select last_seen_at from device_state where device_id = ${id}`;
  const failures: string[] = [];
  const parts = {
    db: world.db,
    clock,
    log: makeLogger("silent"),
    config: loadConfig({}, {}),
    onFailure: (_packet: unknown, reason: string): void => void failures.push(reason),
  };
  const result = await retryPoisoned(parts, await listPoisoned(world.db, uid, 10));
  expect([result, failures]).toEqual([{ retried: 1, stored: 1, failed: 0 }, []]);
  const stored = await world.db.many`select data, received_at from telemetry where device_id = ${id} and data ? 'hr'`;
  expect(stored).toEqual([{ data: { hr: 13 }, received_at: packet?.receivedAt }]);
  expect(await listPoisoned(world.db, uid, 10)).toEqual([]);
  const stateOf = () => world.db.one`select last_seen_at, last_status from device_state where device_id = ${id}`;
  const after = await stateOf();
  expect(after.last_seen_at.getTime()).toBeGreaterThanOrEqual(seenBefore.last_seen_at.getTime());
  expect(after.last_status).toMatchObject({ hr: { value: 13 }, bat: { value: 81 } });
  // Still the same connection, which knows what was stored beside it.
  expect(await watch.send("IWAP49,61#")).toBe("IWBP49#");
  expect((await stateOf()).last_status).toMatchObject({ hr: { value: 61 }, bat: { value: 81 } });

  await world.db.run`
    insert into poisoned_packets (id, organization_id, device_id, protocol, reason, frame, received_at)
    select gen_random_uuid(), organization_id, id, 'iw', 'TypeError', 'no frame', ${clock.now()} from devices
    where id = ${id}`;
  expect(await retryPoisoned(parts, await listPoisoned(world.db, uid, 10))).toEqual({
    retried: 1,
    stored: 0,
    failed: 1,
  });
  expect(failures).toEqual(["the frame cannot be read"]);
});
