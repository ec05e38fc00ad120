import { describe, expect, it } from "vitest";
import { FairSlots } from "./fair-slots.ts";

const options = { slots: 3, slotsPerTenant: 2, maxWaiting: 10, maxWaitingPerTenant: 3 };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("fair slots", () => {
  it("keep a slot for others beside the share of one tenant", () => {
    const slots = new FairSlots(options);
    expect([slots.take("a"), slots.take("a"), slots.take("a")].map(Boolean)).toEqual([true, true, false]);
    expect([slots.take("b"), slots.take("c")].map(Boolean)).toEqual([true, false]);
  });

  it("let tenants that wait take turns", async () => {
    const slots = new FairSlots({ ...options, slots: 1, slotsPerTenant: 1 });
    const order: string[] = [];
    const first = slots.take("a");
    const waiting = ["a1", "a2", "a3", "b1", "b2", "c1"].map((name) =>
      slots.run(name.charAt(0), async () => void order.push(name)),
    );
    await settled();
    expect(slots.waiting).toBe(6);
    first?.();
    await Promise.all(waiting);
    expect(order).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
  });

  it("refuse what one tenant has too much as too_busy, and what all have as service_unavailable", async () => {
    const slots = new FairSlots({ ...options, slots: 1, slotsPerTenant: 1, maxWaiting: 4 });
    slots.take("a");
    const refused: Promise<unknown>[] = ["a", "a", "a", "a", "b", "c"].map((tenant) =>
      slots.wait(tenant).catch((error: unknown) => error),
    );
    expect(await refused[3]).toMatchObject({ status: 503, code: "too_busy", headers: { "Retry-After": "5" } });
    expect(await refused[5]).toMatchObject({ status: 503, code: "service_unavailable" });
    expect(slots.waiting).toBe(4);
    slots.clear(new Error("closed"));
    expect(await refused[0]).toMatchObject({ message: "closed" });
  });

  it("refuse what waited too long, and give its place to nobody twice", async () => {
    const slots = new FairSlots({ ...options, slots: 1, slotsPerTenant: 1, maxWaitMs: 5 });
    const release = slots.take("a");
    await expect(slots.wait("a")).rejects.toMatchObject({ code: "too_busy" });
    await expect(slots.wait("b")).rejects.toMatchObject({ code: "service_unavailable" });
    release?.();
    release?.();
    expect([slots.take("b"), slots.take("c")].map(Boolean)).toEqual([true, false]);
  });

  it("give the slot back when the work fails", async () => {
    const slots = new FairSlots({ ...options, slots: 1 });
    await expect(slots.run("a", () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    expect(slots.take("b")).toBeDefined();
  });
});
