import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { HotServers, hotServerProblem } from "../../src/db/hot-servers.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { checkHotServers } from "../../src/roles/hot-servers-check.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

/** The catalog of a distributed database stands in for one: only which server answers is looked at here. */
describe("workers of a distributed database", () => {
  const log = makeLogger("silent");
  const databases: TestDatabase[] = [];
  const opened: Database[] = [];
  let main: Database;
  let worker: Database;
  let stranger: Database;

  async function openOne(shards?: readonly number[]): Promise<Database> {
    const database = await createTestDatabase({ empty: true });
    databases.push(database);
    const db = openDatabase({ connection: { connectionString: database.url }, log, poolSize: 2 });
    opened.push(db);
    await db.run`create table locations (device_id int)`;
    if (shards) await db.run`create table pg_dist_shard (logicalrelid regclass, shardid bigint)`;
    for (const shard of shards ?? []) await db.run`insert into pg_dist_shard values ('locations', ${shard})`;
    return db;
  }

  beforeAll(async () => {
    main = await openOne([7, 8]);
    worker = await openOne([7, 8]);
    stranger = await openOne([1, 2]);
    await worker.run`insert into locations values (1)`;
  });
  afterAll(async () => {
    await Promise.all(opened.map((db) => db.close()));
    await Promise.all(databases.map((database) => database.drop()));
  });

  const rowsWith = async (db: Database): Promise<number> => {
    const servers = new HotServers({ main, servers: [{ name: "worker", db }], log, metrics: new Metrics() });
    return (await servers.choose(main, (one) => one).many`select device_id from locations`).length;
  };

  it("answer reads of what is spread over them", async () => expect(await rowsWith(worker)).toBe(1));

  it("are not asked while they are not of the same cluster", async () => {
    expect(await rowsWith(stranger)).toBe(0);
    expect(await hotServerProblem(main, stranger)).toBe("it is a node of another cluster than DATABASE_URL");
    const plain = await openOne();
    expect(await hotServerProblem(main, plain)).toBe("it is no node of a distributed database");
    expect(await hotServerProblem(plain, worker)).toContain("run vigil db distribute");
  });

  it("are left alone for a while when they do not answer, and the main database is read", async () => {
    const away = openDatabase({ connection: { connectionString: "postgres://nobody@127.0.0.1:1/x" }, log });
    opened.push(away);
    expect(await rowsWith(away)).toBe(0);
  });

  it("take no changes", async () => {
    const servers = new HotServers({ main, servers: [{ name: "worker", db: worker }], log, metrics: new Metrics() });
    await servers.choose(main, (one) => one).run`insert into locations values (2)`;
    expect((await main.many`select device_id from locations`).length).toBe(1);
  });

  it("have a check each", async () => {
    const [, ofWorker, ofStranger] = databases.map(({ url }) => url) as [string, string, string];
    const checks = await checkHotServers({ databaseHotUrls: [ofWorker, ofStranger] }, main);
    expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
      ["hot_server", true],
      ["hot_server", false],
    ]);
    expect(JSON.stringify(checks)).not.toMatch(/postgres:\/\//);
  });
});
