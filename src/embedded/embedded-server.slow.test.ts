import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeWorld, query, until } from "../../test/support/embedded-world.ts";

const isRoot = process.getuid?.() === 0;
const isRootOnLinux = isRoot && process.platform === "linux";
const template = makeWorld();

beforeAll(async () => {
  await (await template.open("command")).release();
});
afterAll(() => template[Symbol.asyncDispose]());

// Each has a world of its own, and most of the time is spent waiting. A busy disk makes a start ten times as long.
describe.concurrent("the embedded server", { timeout: 120_000 }, () => {
  test("starts on an empty folder, stops on release, and starts again with its rows", async () => {
    await using world = makeWorld();
    const first = await world.open("command");
    await query(first.connection, "create table notes as select 'kept' as text");
    await first.release();
    await first.release();
    await world.expectStopped();

    const second = await world.open("service");
    expect(await query(second.connection, "select text from notes")).toEqual([{ text: "kept" }]);
    expect(await query(second.connection, "show synchronous_commit")).toEqual([{ synchronous_commit: "on" }]);
    await second.release();
    await world.expectStopped();
  });

  test("lets commands come and go while a service runs", async () => {
    await using world = makeWorld("data", template);
    const service = await world.open("service");
    const pid = world.postmasterPid();
    const command = await world.open("command");
    expect(command.connection).toEqual(service.connection);
    await command.release();
    expect(world.postmasterPid()).toBe(pid);

    const last = await world.open("command");
    await service.release();
    expect(await query(last.connection, "select 1 as one")).toEqual([{ one: 1 }]);
    await last.release();
    await world.expectStopped();
  });

  test("refuses a second service and leaves the first unharmed", async () => {
    await using world = makeWorld("data", template);
    const first = await world.open("service");
    const pid = world.postmasterPid();
    await expect(world.open("service")).rejects.toThrow(
      `another vigil service (pid ${process.pid}) is already running on ${world.dataDir}; stop it first or choose another --data-dir`,
    );
    // The same without a launcher: the refused one must not become the keeper of the server.
    for (const launcher of world.launcherPids()) process.kill(launcher, "SIGKILL");
    await expect(world.open("service")).rejects.toThrow("another vigil service");
    expect(world.postmasterPid()).toBe(pid);
    await first.release();
    await world.expectStopped();
  });

  test("ten commands at once on a stopped folder share one server", async () => {
    await using world = makeWorld();
    const children = await Promise.all(Array.from({ length: 4 }, () => world.spawn("command")));
    const own = await Promise.all(Array.from({ length: 6 }, () => world.open("command")));
    for (const { connection } of [...children, ...own]) {
      expect(await query(connection, "select 1 as one")).toEqual([{ one: 1 }]);
    }
    expect(readFileSync(world.log, "utf8").match(/starting PostgreSQL/g)).toHaveLength(1);
    await Promise.all([...children.map((child) => child.release()), ...own.map((server) => server.release())]);
    await world.expectStopped();
  });

  test("a killed service leaves no orphan and loses no committed row", async () => {
    await using world = makeWorld("data", template);
    const child = await world.spawn("service");
    await query(child.connection, "create table notes as select 'kept' as text");
    child.kill();
    await until("the server is gone", () => world.processes().length === 0);

    const again = await world.spawn("service");
    again.kill();
    // Not waiting: this one meets the old server while it is stopping, or still running.
    const service = await world.open("service");
    expect(await query(service.connection, "select text from notes")).toEqual([{ text: "kept" }]);
  });

  test("starts again while the old server is shutting down", async () => {
    await using world = makeWorld("data", template);
    for (let round = 0; round < 3; round++) {
      const old = await world.open("command");
      const released = old.release();
      const next = await world.open("command");
      expect(await query(next.connection, "select 1 as one")).toEqual([{ one: 1 }]);
      await Promise.all([released, next.release()]);
    }
    await world.expectStopped();
  });

  test("joins and leaves in every order without losing the server", async () => {
    await using world = makeWorld("data", template);
    const users = Array.from({ length: 3 }, async () => {
      for (let round = 0; round < 4; round++) {
        const server = await world.open("command");
        expect(await query(server.connection, "select 1 as one")).toEqual([{ one: 1 }]);
        await server.release();
      }
    });
    await Promise.all(users);
    await world.expectStopped();
  });

  test("a service brings back a killed server under the same address", async () => {
    await using world = makeWorld("data", template);
    for (const transport of ["auto", "tcp"] as const) {
      const service = await world.open("service", transport);
      await query(service.connection, "create table if not exists notes (text text)");
      const pid = world.postmasterPid();
      process.kill(pid, "SIGKILL");
      await until("another server runs", () => ![pid, undefined].includes(world.findPostmasterPid()));
      await until("it answers", () => query(service.connection, "select * from notes"));
      if (transport === "auto") await expect(world.open("service")).rejects.toThrow("another vigil service");
      await service.release();
      await world.expectStopped();
    }
  });

  test("a service replaces a killed launcher without a restart", async () => {
    await using world = makeWorld("data", template);
    const child = await world.spawn("service");
    const pid = world.postmasterPid();
    const killed = world.launcherPids();
    for (const launcher of killed) process.kill(launcher, "SIGKILL");
    await until("a new launcher runs", () => world.launcherPids().some((launcher) => !killed.includes(launcher)));
    expect(world.postmasterPid()).toBe(pid);
    child.kill();
    await until("the server is gone", () => world.processes().length === 0);
  });

  test("the server is stopped even if only half of the launcher was killed", async () => {
    await using world = makeWorld("data", template);
    const child = await world.spawn("command");
    process.kill(Math.min(...world.launcherPids()), "SIGKILL");
    child.kill();
    await until("the server is gone", () => world.processes().length === 0);
  });

  test("a server without any user is joined by a command and taken over by a service", async () => {
    await using world = makeWorld("data", template);
    const child = await world.spawn("service");
    const pid = world.postmasterPid();
    child.pauseAndKillWith(world.launcherPids());
    await until("only the server is left", () => world.launcherPids().length === 0);
    const command = await world.open("command");
    await command.release();
    expect(world.postmasterPid()).toBe(pid);
    const service = await world.open("service");
    expect(world.postmasterPid()).toBe(pid);
    await service.release();
    await world.expectStopped();
  });

  test("starts over the remains of a kill of everything, whoever has the old pid now", async () => {
    await using world = makeWorld("data", template);
    const child = await world.spawn("service");
    await query(child.connection, "create table notes as select 'kept' as text");
    child.pauseAndKillWith([...world.launcherPids(), world.postmasterPid()]);
    await until("all are gone", () => world.processes().length === 0);
    // A live process of the server's own user: PostgreSQL by itself refuses to start over this.
    const foreign = world.spawnStranger();
    const file = join(world.cluster, "postmaster.pid");
    writeFileSync(file, readFileSync(file, "utf8").replace(/^\d+/, String(foreign)));
    const socketLock = join(world.run, ".s.PGSQL.5432.lock");
    writeFileSync(socketLock, readFileSync(socketLock, "utf8").replace(/^\d+/, String(foreign)));
    const service = await world.open("service");
    expect(await query(service.connection, "select text from notes")).toEqual([{ text: "kept" }]);
  });

  test("a kill in the middle of initdb leaves nothing that matters", async () => {
    await using world = makeWorld();
    const child = world.spawnUnready("command");
    await until(
      "initdb is at work",
      () => existsSync(world.root) && readdirSync(world.root).some((name) => name.startsWith("cluster.new-")),
    );
    child.kill();
    const server = await world.open("command");
    expect(await query(server.connection, "select 1 as one")).toEqual([{ one: 1 }]);
    await server.release();
    await until("initdb has ended", () => world.processes().length === 0);
    await (await world.open("command")).release();
    expect(readdirSync(world.root).sort()).toEqual(["cluster", "run"]);
  });

  test("listens on loopback with a password in tcp mode, and says so to those who join", async () => {
    await using world = makeWorld("data", template);
    const server = await world.open("service", "tcp");
    const { password, ...open } = server.connection;
    expect(open.host).toBe("127.0.0.1");
    await expect(query({ ...open, password: "wrong" }, "select 1")).rejects.toThrow("password authentication failed");
    const command = await world.open("command");
    expect(command.connection).toEqual(server.connection);
    expect(readdirSync(world.run).filter((name) => name.startsWith(".s."))).toEqual([]);
    expect(statSync(join(world.cluster, "vigil-password")).mode & 0o077).toBe(0);
  });

  test("moves the socket out of a folder whose path is too long", async () => {
    await using world = makeWorld("long-".repeat(25), template);
    const server = await world.open("command");
    expect(server.connection.host).not.toContain("long-");
    expect(statSync(server.connection.host).mode & 0o077).toBe(0);
    expect(await query(server.connection, "select 1 as one")).toEqual([{ one: 1 }]);
    await server.release();
    expect(existsSync(server.connection.host)).toBe(false);
  });

  test.runIf(isRoot)("runs for an ordinary user, and root joins as that user", async () => {
    await using world = makeWorld();
    chmodSync(world.base, 0o755);
    mkdirSync(world.dataDir, { recursive: true });
    chownSync(world.dataDir, 1000, 1000);
    const child = await world.spawn("service", { uid: 1000, gid: 1000 });
    expect(statSync(world.cluster).uid).toBe(1000);
    const command = await world.open("command");
    expect(await query(command.connection, "select 1 as one")).toEqual([{ one: 1 }]);
    await command.release();
    await child.release();
    await (await world.open("command")).release();
    const again = await world.spawn("command", { uid: 1000, gid: 1000 });
    await again.release();
    await expect(world.spawn("command", { uid: 1001, gid: 1001 })).rejects.toThrow("belongs to uid 1000");
    await world.expectStopped();
  });

  test.runIf(isRoot)("joins as root without the right to look into other users' processes", async () => {
    await using world = makeWorld("data", template);
    const service = await world.open("service");
    const child = await world.spawn("command", { prefix: ["setpriv", "--bounding-set", "-sys_ptrace"] });
    expect(child.connection).toEqual(service.connection);
    await child.release();
  });

  test.runIf(isRootOnLinux)("lives below folders that only root may enter, and leaves them closed", async () => {
    await using world = makeWorld("private/below/data", template);
    for (const folder of ["private", "private/below"]) chmodSync(join(world.base, folder), 0o700);
    const first = await world.spawn("service");
    expect(statSync(world.cluster).uid).not.toBe(0);
    await query(first.connection, "create table notes as select 'kept' as text");
    const command = await world.open("command");
    expect(command.connection).toEqual(first.connection);
    expect(command.connection.host).toBe(world.run);
    await command.release();
    first.kill();
    await until("the server is gone", () => world.processes().length === 0);

    const service = await world.open("service");
    const pid = world.postmasterPid();
    process.kill(pid, "SIGKILL");
    await until("another server runs", () => ![pid, undefined].includes(world.findPostmasterPid()));
    await until("it answers", () => query(service.connection, "select * from notes"));
    await query(service.connection, "select pg_reload_conf()");
    expect(await query(service.connection, "select text from notes")).toEqual([{ text: "kept" }]);
    await service.release();
    await world.expectStopped();
    for (const folder of ["", "private", "private/below"]) {
      expect(statSync(join(world.base, folder))).toMatchObject({ uid: 0, mode: 0o40700 });
    }
  });

  test.runIf(isRootOnLinux)("runs a checkout that only root may enter, on a data folder like it", async () => {
    await using world = makeWorld("private/data", template);
    chmodSync(world.base, 0o755);
    chmodSync(join(world.base, "private"), 0o700);
    const script = world.copyCheckout("private/checkout");
    const child = await world.spawn("command", { script, prefix: ["env", `TMPDIR=${world.base}`] });
    expect(await query(child.connection, "select 1 as one")).toEqual([{ one: 1 }]);
    const [copy = "none"] = readdirSync(world.base).filter((name) => name.startsWith("vigil-postgres-"));
    expect(readlinkSync(`/proc/${world.postmasterPid()}/exe`)).toBe(join(world.base, copy, "native/bin/postgres"));
    await child.release();
    await world.expectStopped();
  });

  test("says what is wrong with a cluster", async () => {
    await using world = makeWorld("data", template);
    await (await world.open("command")).release();
    const version = join(world.cluster, "PG_VERSION");
    writeFileSync(version, "17\n");
    await expect(world.open("command")).rejects.toThrow("was made by PostgreSQL 17 and this Vigil brings 18");
    writeFileSync(version, "18\n");
    writeFileSync(join(world.cluster, "global", "pg_control"), "nonsense");
    await expect(world.open("command")).rejects.toThrow(/did not start: .*; see .*postgres\.log/);
    execFileSync("rm", [version]);
    await expect(world.open("command")).rejects.toThrow("is not a complete PostgreSQL cluster");
  });

  test("says when the data folder is a file", async () => {
    await using world = makeWorld("file");
    writeFileSync(join(world.base, "file"), "");
    await expect(world.open("command")).rejects.toThrow("is not a folder");
  });
});
