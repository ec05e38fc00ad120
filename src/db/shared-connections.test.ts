import { Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { openDatabaseProxy } from "../../test/support/database-proxy.ts";
import { makeLogger } from "../lib/logger.ts";
import { type Database, openDatabase } from "./database.ts";
import { sql } from "./sql.ts";

let test: TestDatabase;
let db: Database;
let pooled = 0;
const waiting = { timeout: 10_000, interval: 5 };

const limits = {
  onPool: <T>(work: () => Promise<T>): Promise<T> => {
    pooled++;
    return work();
  },
  takeQuick: () => () => undefined,
};

beforeAll(async () => {
  test = await createTestDatabase({ empty: true });
  db = openDatabase({ connection: { connectionString: test.url }, log: makeLogger("silent") });
  await db.run`create table things (id int primary key, name text, at timestamptz, tags text[], data jsonb, big int8, part float8)`;
  await db.run`
    insert into things values (1, 'Zoë ''"\\', '2026-03-01T08:15:29.9Z', '{a,"b c"}', '{"a": [1, null]}', 7, 1.5), (2, null, null, null, null, null, null)`;
});
afterAll(async () => {
  await db.close();
  await test.drop();
});
beforeEach(() => {
  pooled = 0;
});

const things = (id: number) => sql`select *, 1 as id2 from things where id >= ${id} order by id`;

describe("a statement on a shared connection", () => {
  it("has the same rows as on one of the pool, also when its columns are known", async () => {
    const first = await db.many(things(1));
    expect(first[0]).toEqual({
      id: 1,
      name: `Zoë '"\\`,
      at: new Date("2026-03-01T08:15:29.900Z"),
      tags: ["a", "b c"],
      data: { a: [1, null] },
      big: 7,
      part: 1.5,
      id2: 1,
    });
    for (let count = 0; count < 3; count++) {
      const many = await Promise.all([1, 2, 3, 4].map(() => db.point.many(things(1))));
      expect(many).toEqual([first, first, first, first]);
    }
    expect(await db.point.many(things(9))).toEqual([]);
    expect(await db.point.maybeOne(things(2))).toMatchObject({ id: 2, name: null, at: null });
  });

  it("fails alone, and those sent with it are answered", async () => {
    const divide = (by: number) => db.point.one<{ quotient: number }>(sql`select 6 / ${by}::int as quotient`);
    for (let count = 0; count < 3; count++) {
      const outcomes = await Promise.allSettled([0, 1, 0, 2, 3, 0].map(divide));
      expect(outcomes.map((one) => (one.status === "fulfilled" ? one.value.quotient : one.reason.code))).toEqual([
        "22012",
        6,
        "22012",
        3,
        2,
        "22012",
      ]);
    }
  });

  it("says how many rows it wrote", async () => {
    const rename = (id: number) => db.point.run(sql`update things set part = 2 where id >= ${id}`);
    expect(await Promise.all([rename(1), rename(2), rename(9), rename(2)])).toEqual([2, 1, 0, 1]);
  });

  it("is parsed again when the server has forgotten it", async () => {
    const one = openDatabase({
      connection: { connectionString: test.url },
      log: makeLogger("silent"),
      laneSize: 1,
    });
    const read = () => one.point.one(sql`select name from things where id = 2`);
    await read();
    await one.point.run(sql`deallocate all`);
    await expect(read()).rejects.toMatchObject({ code: "26000" });
    expect(await read()).toEqual({ name: null });
    await one.close();
  });

  it("goes on over a new connection when its own is lost", async () => {
    const pid = async () => (await db.point.one<{ pid: number }>(sql`select pg_backend_pid() as pid`)).pid;
    const lost = await Promise.all([pid(), pid()]);
    for (const one of lost) await db.run`select pg_terminate_backend(${one})`;
    const found = (): Promise<boolean> =>
      Promise.all([pid(), pid()]).then(
        (pids) => !pids.some((one) => lost.includes(one)),
        () => false,
      );
    await expect.poll(found, waiting).toBe(true);
  });
});

describe("connections of every kind", () => {
  it("are probed after ten idle seconds", async () => {
    const keepAlive = vi.spyOn(Socket.prototype, "setKeepAlive");
    const one = openDatabase({ connection: { connectionString: test.url }, log: makeLogger("silent") });
    await Promise.all([one.run`select 1`, one.point.run`select 1`]);
    const client = await one.connect();
    expect(keepAlive.mock.calls).toEqual(Array.from({ length: 3 }, () => [true, 10_000]));
    keepAlive.mockRestore();
    await client.end();
    await one.close();
  });
});

describe("a read within limits", () => {
  it("leaves the pool once it has proved quick", async () => {
    const shared = db.within(limits);
    const readOnce = async (): Promise<number> => {
      pooled = 0;
      await shared.many(things(1));
      return pooled;
    };
    expect(await readOnce()).toBe(1);
    await expect.poll(readOnce, waiting).toBe(0);
  });

  it("is ended when it turns out slow, and answered on the pool", async () => {
    const shared = db.within(limits);
    const sleep = (seconds: number) =>
      shared.one(sql`select ${seconds}::float8 as slept, pg_sleep(${seconds}) is null as void`);
    const sleepShort = async (): Promise<number> => {
      pooled = 0;
      await sleep(0);
      return pooled;
    };
    await expect.poll(sleepShort, waiting).toBe(0);
    pooled = 0;
    expect(await Promise.all([sleep(0.3), sleep(0.3)])).toEqual([
      { slept: 0.3, void: false },
      { slept: 0.3, void: false },
    ]);
    expect(pooled).toBe(2);
    expect(await sleepShort()).toBe(1);
  });

  it("is answered on the pool when its statement was not parsed in time, and parsed again later", async () => {
    const one = openDatabase({
      connection: { connectionString: test.url },
      log: makeLogger("silent"),
      laneSize: 1,
    });
    const shared = one.within(limits);
    const read = (id: number) => shared.one(sql`select ${id}::int as asked, name from things where id = 2`);
    const readShared = async (): Promise<number> => {
      pooled = 0;
      await read(0);
      return pooled;
    };
    const findPid = async (): Promise<number> => {
      pooled = 0;
      const { pid } = await shared.one<{ pid: number }>(sql`select pg_backend_pid() as pid`);
      return pooled === 0 ? pid : 0;
    };
    await expect.poll(readShared, waiting).toBe(0);
    const lost = await vi.waitUntil(findPid, waiting);
    await db.run`select pg_terminate_backend(${lost})`;
    // The next connection knows nothing of the statement, and it counts as quick.
    await expect.poll(async () => [0, lost].includes(await findPid()), waiting).toBe(false);
    const holder = await one.connect();
    await holder.query("begin; lock table things");
    pooled = 0;
    const answers = Promise.allSettled([1, 2, 3].map(read));
    await expect.poll(() => pooled, waiting).toBe(3);
    await holder.query("commit");
    expect(await answers).toEqual([1, 2, 3].map((asked) => ({ status: "fulfilled", value: { asked, name: null } })));
    await expect.poll(readShared, waiting).toBe(0);
    await holder.end();
    await one.close();
  });

  it("is ended in time also when the address of the database has a limit of its own", async () => {
    const address = new URL(test.url);
    address.searchParams.set("statement_timeout", "60000");
    const one = openDatabase({ connection: { connectionString: address.href }, log: makeLogger("silent") });
    const readLimit = async () => {
      pooled = 0;
      const { setting } = await one.within(limits).one(sql`select current_setting('statement_timeout') as setting`);
      return { pooled, setting };
    };
    expect(await readLimit()).toEqual({ pooled: 1, setting: "1min" });
    await expect.poll(readLimit, waiting).toEqual({ pooled: 0, setting: "50ms" });
    await one.close();
  });

  it("is answered on the pool when its connection has fallen silent", async () => {
    const proxy = await openDatabaseProxy(test.url);
    const connection = { connectionString: proxy.url };
    const one = openDatabase({ connection, log: makeLogger("silent"), laneSize: 1, quickAnswerTimeoutMs: 100 });
    const shared = one.within(limits);
    const readShared = async (): Promise<number> => {
      pooled = 0;
      await shared.many(things(9));
      return pooled;
    };
    await expect.poll(readShared, waiting).toBe(0);
    proxy.stall();
    const answers = Promise.all([1, 2].map(() => shared.many(things(9))));
    await expect.poll(() => pooled, waiting).toBe(2);
    proxy.mend();
    expect(await answers).toEqual([[], []]);
    await expect.poll(readShared, waiting).toBe(0);
    await one.close();
    await proxy.close();
  });

  it("has a connection of the pool to itself while there is no room", async () => {
    const full = db.within({ ...limits, takeQuick: () => undefined });
    for (let count = 1; count <= 3; count++) {
      await full.many(things(1));
      expect(pooled).toBe(count);
    }
  });

  it("stays on the pool when it is slow", async () => {
    const shared = db.within(limits);
    for (let count = 1; count <= 3; count++) {
      await shared.one(sql`select pg_sleep(0.05)`);
      expect(pooled).toBe(count);
    }
  });
});
