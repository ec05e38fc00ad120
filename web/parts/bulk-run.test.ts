import { expect, it } from "vitest";
import { type BulkResult, devicesAtOnce, runBulk } from "./bulk-run.ts";

const uids = Array.from({ length: devicesAtOnce * 2 + 3 }, (_, n) => String(n));
const done = (some: readonly string[]): BulkResult[] => some.map((uid) => ({ uid, ok: true }));
const quiet = {
  onProgress: () => undefined,
  isStopped: () => false,
  waitAfter: () => undefined,
  pause: async () => {},
};

it("works through all devices and tells how far it has come", async () => {
  const steps: number[] = [];
  const results = await runBulk({
    ...quiet,
    uids,
    send: async (some) => done(some),
    onProgress: (so) => steps.push(so.length),
  });
  expect(results.map(({ uid }) => uid)).toEqual(uids);
  expect(steps).toEqual([devicesAtOnce, devicesAtOnce * 2, uids.length]);
});

it("waits when it is asked to, and does nothing twice", async () => {
  const sent: string[] = [];
  const pauses: number[] = [];
  let refusals = 2;
  await runBulk({
    ...quiet,
    uids,
    send: async (some) => {
      if (refusals-- > 0) throw new Error("too many calls");
      sent.push(...some);
      return done(some);
    },
    waitAfter: () => 3,
    pause: async (ms) => {
      pauses.push(ms);
    },
  });
  expect([sent, pauses]).toEqual([uids, [3000, 3000]]);
});

it("stops between two steps, and at an error that waiting does not mend", async () => {
  let isStopped = false;
  const results = await runBulk({
    ...quiet,
    uids,
    send: async (some) => {
      isStopped = true;
      return done(some);
    },
    isStopped: () => isStopped,
  });
  expect(results).toHaveLength(devicesAtOnce);
  const failing = runBulk({ ...quiet, uids, send: () => Promise.reject(new Error("no")) });
  await expect(failing).rejects.toThrow("no");
});
