import { expect, test } from "vitest";
import { defaultLimits } from "./gateway-limits.ts";
import { Inflow } from "./inflow.ts";
import { PacketBucket } from "./packet-rate.ts";
import { TenantBudgets } from "./tenant-budgets.ts";

const frame = { messages: [], replies: [], raw: Buffer.alloc(500) };
const frameSize = 1000;

function openTenant(limits: { tenantFrames?: number; tenantBytes?: number }) {
  const all = { ...defaultLimits, ...limits };
  let stops = 0;
  const woken: string[] = [];
  const budgets = new TenantBudgets(all, () => stops++);
  const tenant = budgets.of("organization");
  const device = (name: string): Inflow => {
    const inflow = new Inflow(all, { goOn: () => woken.push(name) });
    inflow.measureBy({ rate: new PacketBucket(all, 0), tenant });
    return inflow;
  };
  return { budgets, tenant, device, woken, stops: () => stops };
}

test("a full organization whose devices wait for each answer stops none of them", () => {
  const { tenant, device, stops } = openTenant({ tenantFrames: 5 });
  const devices = Array.from({ length: 10 }, (_, n) => device(`${n}`));
  for (const one of devices) {
    expect(one.roomAt(0)).toBeGreaterThan(0);
    one.add(frame);
    one.leaveUndecoded(0);
    expect(one.mayRead(0, 0)).toBe(true);
  }
  expect([tenant.isOverfull, stops()]).toEqual([true, 0]);
});

test("at its bytes, decoded or not, an organization stops devices with a backlog, at twice of them all", async () => {
  const { budgets, tenant, device, woken, stops } = openTenant({ tenantBytes: 10 * frameSize });
  const [flooding, busy, quiet] = [device("flooding"), device("busy"), device("quiet")];
  busy.add(frame);
  flooding.leaveUndecoded(8 * frameSize);
  expect([stops(), busy.mayRead(0, 0)]).toEqual([0, true]);
  flooding.leaveUndecoded(9 * frameSize);
  expect([flooding, busy, quiet].map((one) => one.mayRead(0, 0))).toEqual([false, false, true]);
  flooding.leaveUndecoded(19 * frameSize);
  expect([budgets.undecodedBytes, quiet.mayRead(0, 0), tenant.isStopped, stops()]).toEqual([
    19 * frameSize,
    false,
    true,
    2,
  ]);
  flooding.leaveUndecoded(14 * frameSize);
  await Promise.resolve();
  expect([woken, quiet.mayRead(0, 0), busy.mayRead(0, 0)]).toEqual([["flooding", "busy", "quiet"], true, false]);
  flooding.leaveUndecoded(0);
  busy.remove(frame);
  await Promise.resolve();
  expect([woken.at(-1), busy.mayRead(0, 0), budgets.undecodedBytes]).toEqual(["busy", true, 0]);
});

test("a device that sent more than could be decoded counts as one with a backlog until it sends less", () => {
  const { device } = openTenant({ tenantBytes: 10 * frameSize });
  const [flooding, other] = [device("flooding"), device("other")];
  other.leaveUndecoded(10 * frameSize);
  flooding.leaveUndecoded(1);
  flooding.leaveUndecoded(0);
  expect(flooding.mayRead(0, 0)).toBe(false);
  flooding.leaveUndecoded(0);
  expect(flooding.mayRead(0, 0)).toBe(true);
});

test("a device that disconnects is not told, and gives back what it left undecoded", async () => {
  const { budgets, device, woken } = openTenant({ tenantBytes: frameSize });
  const [flooding, other] = [device("flooding"), device("other")];
  flooding.leaveUndecoded(frameSize);
  other.add(frame);
  expect([flooding, other].map((one) => one.mayRead(0, 0))).toEqual([false, false]);
  flooding.leaveUndecoded(0);
  flooding.leave();
  other.remove(frame);
  await Promise.resolve();
  expect([woken, budgets.undecodedBytes]).toEqual([["other"], 0]);
});
