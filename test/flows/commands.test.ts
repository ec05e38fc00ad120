import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type CommandWorld,
  iwDevice,
  openCommandWorld,
  serialIn,
  setrackerDevice,
  watchFrame,
} from "../support/command-world.ts";
import type { TestGateway } from "../support/gateway.ts";

let world: CommandWorld;
let gateway: TestGateway;

beforeAll(async () => {
  world = await openCommandWorld();
  gateway = await world.openGateway();
});
afterAll(() => world.close());

test("goes to a connected device at once, and ends with its answer", async () => {
  const uid = await world.device();
  const device = await iwDevice(gateway, uid);
  const created = await world.post(uid, "locate_now");
  expect(created.status).toBe(201);
  const id = created.body.command_uuid;
  const frame = await device.until("IWBP16");
  expect(frame).toBe(`IWBP16,${uid},${serialIn(frame)}#`);
  expect(serialIn(frame)).toMatch(/^\d{6}$/);
  await world.until(uid, id, "sent");
  device.write(`IWAP16,${serialIn(frame)}#`);
  const done = await world.until(uid, id, "ack_ok");
  expect(done).toMatchObject({ terminal: true, queue_position: null, attempts: 1, result: null, error: null });
  expect([done.sent_at, done.acked_at]).not.toContain(null);
  expect(done.completed_at).toBe(done.acked_at);
});
