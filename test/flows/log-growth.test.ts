import { afterAll, beforeAll, expect, it } from "vitest";
import { LogGrowth } from "../../src/outbound/log-growth.ts";
import { makeAuthority } from "../support/certificates.ts";
import { type DeliveryWorld, openDeliveryWorld } from "../support/delivery.ts";

let world: DeliveryWorld;

beforeAll(async () => {
  world = await openDeliveryWorld(makeAuthority());
});
afterAll(() => world.close());

it("rows are counted that logs get from one look to the next, of those that both looks name", async () => {
  const [one, other] = [await world.makeHook(), await world.makeHook()];
  const growth = new LogGrowth();
  await one.append("alarm.sos", "alarm.sos");
  expect(await growth.measure(world.db, [one.id])).toBe(0);
  await one.append("alarm.sos");
  await other.append("alarm.sos", "alarm.sos", "alarm.sos");
  expect(await growth.measure(world.db, [one.id, other.id])).toBe(1);
  await one.append("alarm.sos", "alarm.sos");
  await one.append("alarm.sos");
  await other.append("alarm.sos");
  expect(await growth.measure(world.db, [one.id, other.id])).toBe(4);
  expect(await growth.measure(world.db, [one.id, other.id])).toBe(0);
  expect(await growth.measure(world.db, [])).toBe(0);
  await one.append("alarm.sos");
  expect(await growth.measure(world.db, [one.id])).toBe(0);
});
