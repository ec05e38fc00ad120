import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeLogger } from "../lib/logger.ts";
import type { Layout } from "./embedded-layout.ts";
import { withStartLock } from "./embedded-lock.ts";

const log = makeLogger("silent");
let run = "";
let layout: Layout;

beforeEach(() => {
  run = mkdtempSync(join(tmpdir(), "vigil-lock-"));
  layout = { dataDir: run, root: run, cluster: run, run, log: run, account: undefined, handsOver: false };
});
afterEach(() => rmSync(run, { recursive: true, force: true }));

test("the lock lets one in at a time and leaves one file", async () => {
  let inside = 0;
  let maxInside = 0;
  const visit = () =>
    withStartLock(layout, log, async () => {
      inside += 1;
      maxInside = Math.max(maxInside, inside);
      await new Promise(setImmediate);
      inside -= 1;
    });
  await Promise.all(Array.from({ length: 10 }, visit));
  expect(maxInside).toBe(1);
  expect(readdirSync(run)).toEqual(["lock-10"]);
});

test("the lock is free again after a failure", async () => {
  await expect(withStartLock(layout, log, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await withStartLock(layout, log, async () => "in")).toBe("in");
});

test("the lock passes over a holder that is dead, also when its pid lives on in another process", async () => {
  writeFileSync(join(run, "lock-7"), "2147483647 1");
  expect(await withStartLock(layout, log, async () => "in")).toBe("in");
  writeFileSync(join(run, "lock-9"), `${process.pid} another-start-time`);
  expect(await withStartLock(layout, log, async () => "in")).toBe("in");
  expect(readdirSync(run)).toEqual(["lock-10"]);
});
