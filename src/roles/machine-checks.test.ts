import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../config.ts";
import { checkDiskSpeed, checkMemory, checkOpenFiles, measureSyncMs, readOpenFilesLimit } from "./machine-checks.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "vigil-checks-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the doctor reads how many files may be open", () => {
  const limits = join(folder, "limits");
  writeFileSync(
    limits,
    "Limit    Soft Limit   Hard Limit  Units\nMax open files            1024      4096      files\n",
  );
  expect(readOpenFilesLimit(limits)).toBe(1024);
  expect(readOpenFilesLimit(join(folder, "absent"))).toBeUndefined();
});

test("the doctor wants a file for every device, and says which limit to raise", () => {
  const config = loadConfig({}, { VIGIL_GATEWAY_MAX_CONNECTIONS: "50000" });
  expect(checkOpenFiles(config, 1024)).toMatchObject({ ok: false, detail: expect.stringContaining("LimitNOFILE") });
  expect(checkOpenFiles(config, 20_000)).toMatchObject({ ok: true, detail: expect.stringContaining("18000 devices") });
  expect(checkOpenFiles(config, 60_000)).toEqual({ name: "open_files", ok: true, detail: "60000 files may be open" });
  expect(checkOpenFiles({ ...config, roles: ["api"] }, 20_000).detail).toBe("20000 files may be open");
  expect(checkOpenFiles(config, undefined).ok).toBe(true);
});

test("the doctor wants half a gigabyte of memory", () => {
  expect(checkMemory(256 * 1024 ** 2, 100 * 1024 ** 2)).toMatchObject({
    ok: false,
    detail: expect.stringContaining("at least 512 MiB"),
  });
  expect(checkMemory(2 * 1024 ** 3, 1024 ** 3)).toEqual({
    name: "memory",
    ok: true,
    detail: "2048 MiB, of which 1024 MiB are available",
  });
});

test("the doctor measures the disk and leaves nothing behind", () => {
  expect(measureSyncMs(join(folder, "not", "there", "yet"))).toBeGreaterThan(0);
  expect(readdirSync(folder).filter((name) => name.startsWith(".vigil"))).toEqual([]);
});

test("the doctor warns of a slow disk and fails at one that is too slow", () => {
  const config = loadConfig({}, {});
  expect(checkDiskSpeed(config, 1.25)).toMatchObject({ ok: true, detail: "a write is on the disk after 1.3 ms" });
  expect(checkDiskSpeed(config, 40)).toMatchObject({ ok: true, detail: expect.stringContaining("SSD") });
  expect(checkDiskSpeed(config, 400)).toMatchObject({ ok: false, detail: expect.stringContaining("SSD") });
  expect(checkDiskSpeed({ databaseUrl: "postgres://db/vigil" }, undefined).ok).toBe(true);
});
