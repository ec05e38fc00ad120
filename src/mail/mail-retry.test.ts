import { expect, test } from "vitest";
import { giveUpAfterMs, nextAttemptAt, retryWaitsMs } from "./mail-retry.ts";

const createdAt = new Date("2026-03-01T08:00:00Z");
const after = (ms: number): Date => new Date(createdAt.getTime() + ms);

test("waits longer after each attempt and gives up after about a day", () => {
  let now = createdAt;
  const waits: number[] = [];
  for (let attempts = 1; ; attempts++) {
    const next = nextAttemptAt({ attempts, createdAt }, now);
    if (!next) break;
    waits.push(next.getTime() - now.getTime());
    now = next;
  }
  expect(waits).toEqual(retryWaitsMs);
  expect(waits.slice(0, 6)).toEqual([10_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000]);
  const totalHours = (now.getTime() - createdAt.getTime()) / 3_600_000;
  expect(totalHours).toBeGreaterThanOrEqual(24);
  expect(totalHours).toBeLessThan(25);
});

test("tries a mail properly that found no sender for days", () => {
  const now = after(3 * giveUpAfterMs);
  expect(nextAttemptAt({ attempts: 1, createdAt }, now)).toEqual(new Date(now.getTime() + 10_000));
});

test("does not give up within the day, however often a sender died", () => {
  const now = after(giveUpAfterMs / 2);
  expect(nextAttemptAt({ attempts: 500, createdAt }, now)).toEqual(new Date(now.getTime() + 3_600_000));
  expect(nextAttemptAt({ attempts: 500, createdAt }, after(giveUpAfterMs))).toBeUndefined();
});
