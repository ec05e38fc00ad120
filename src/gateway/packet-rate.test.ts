import { expect, test } from "vitest";
import { defaultLimits } from "./gateway-limits.ts";
import { Inflow } from "./inflow.ts";
import { PacketBucket, PacketRates } from "./packet-rate.ts";
import { TenantBudgets, type TenantLimits } from "./tenant-budgets.ts";

const budgetOf = (tenant: TenantLimits) => new TenantBudgets(tenant, () => undefined).of("organization");
const limits = { packetsPerMinute: 600, packetBurst: 1200 };

test("the packet rate lets a device send a burst, then ten packets a second", () => {
  const bucket = new PacketRates(limits).of("device", 0);
  expect(bucket.allowance(0)).toBe(1200);
  for (let count = 0; count < 1200; count++) bucket.take(100);
  expect(bucket.allowance(0)).toBe(0);
  expect(bucket.allowance(1000)).toBe(10);
  expect(bucket.allowance(1_000_000)).toBe(1200);
});

test("the packet rate counts a large packet once for each 4 KB, and waits for a debt", () => {
  const bucket = new PacketRates(limits).of("device", 0);
  for (let count = 0; count < 76; count++) bucket.take(64 * 1024);
  expect(bucket.allowance(0)).toBe(0);
  expect(bucket.allowance(1600)).toBe(0);
  expect(bucket.allowance(1700)).toBe(1);
});

test("the packet rate gives no new burst to a device that connects again", () => {
  const rates = new PacketRates(limits);
  for (let count = 0; count < 1200; count++) rates.of("device", 0).take(10);
  rates.forgetFull("device", 1000);
  expect(rates.of("device", 1000).allowance(1000)).toBe(10);
  rates.forgetFull("device", 200_000);
  expect(rates.of("device", 200_000).allowance(200_000)).toBe(1200);
});

test("the packet rate stops the devices of one organization when it has its share, and wakes them at the half", async () => {
  const budget = budgetOf({ tenantFrames: 4, tenantBytes: 1000 });
  let woken = 0;
  const user = { goOn: () => woken++ };
  for (let count = 0; count < 4; count++) budget.add(10);
  expect(budget.isFull).toBe(true);
  budget.pause(user);
  budget.remove(10);
  expect([budget.isFull, woken]).toEqual([true, 0]);
  budget.remove(10);
  await Promise.resolve();
  expect([budget.isFull, woken]).toEqual([false, 1]);
  budget.add(980);
  expect(budget.isFull).toBe(true);
});

test("where its organization has no room, a device is heard once, and again when there is room", async () => {
  const small = { ...defaultLimits, tenantFrames: 4 };
  const tenant = budgetOf(small);
  let woken = 0;
  const inflow = new Inflow(small, { goOn: () => woken++ });
  inflow.measureBy({ rate: new PacketBucket(small, 0), tenant });
  for (let count = 0; count < 4; count++) tenant.add(10);
  expect([tenant.isFull, inflow.roomAt(0)]).toEqual([true, 1]);
  inflow.add({ messages: [], replies: [], raw: Buffer.alloc(10) });
  expect([inflow.roomAt(0), inflow.mayRead(0, 0)]).toEqual([0, true]);
  for (let count = 0; count < 4; count++) tenant.remove(10);
  await Promise.resolve();
  expect([tenant.isFull, inflow.roomAt(0) > 0, woken]).toEqual([false, true, 1]);
});

test("where its organization has twice what it may have, no device of it is heard", async () => {
  const small = { ...defaultLimits, tenantFrames: 4 };
  const tenant = budgetOf(small);
  let woken = 0;
  const inflow = new Inflow(small, { goOn: () => woken++ });
  inflow.measureBy({ rate: new PacketBucket(small, 0), tenant });
  for (let count = 0; count < 8; count++) tenant.add(10);
  expect(inflow.roomAt(0)).toBe(0);
  for (let count = 0; count < 6; count++) tenant.remove(10);
  await Promise.resolve();
  expect([inflow.roomAt(0) > 0, woken]).toEqual([true, 1]);
});
