import { chmod } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, type Db, openDatabase } from "../../src/db/database.ts";
import { ReadReplica, readReplicaState } from "../../src/db/read-replica.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { checkReadReplica } from "../../src/roles/read-replica-check.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { hasOldPostgres, type OldPostgres, startOldPostgres } from "../support/old-postgres.ts";
import { makeReplica, type PostgresReplica } from "../support/postgres-replica.ts";
import { until } from "../support/until.ts";
import { tempFolder } from "../support/vigil-process.ts";

const log = makeLogger("silent");
const open = (url: string): Database => openDatabase({ connection: { connectionString: url }, log });

describe.skipIf(!hasOldPostgres)("a read replica (needs the programs of PostgreSQL 15)", () => {
  let folder: Awaited<ReturnType<typeof tempFolder>>;
  let server: OldPostgres;
  let standby: PostgresReplica;
  let main: Database;
  let replica: Database;
  let history: Db;
  const metrics = new Metrics();

  beforeAll(async () => {
    folder = await tempFolder();
    // PostgreSQL runs as another user where the tests run as root.
    await chmod(folder.path, 0o755);
    server = await startOldPostgres(folder.path);
    main = open(server.url);
    await main.run`create table notes (id int primary key)`;
    standby = await makeReplica(server.url, folder.path);
    standby.start();
    replica = open(standby.url);
    history = new ReadReplica({ main, replica, log, metrics, restMs: 50 }).choose(main, replica);
    await untilAnsweredBy("replica");
  });
  afterAll(async () => {
    await replica?.close();
    await main?.close();
    await standby?.stop();
    await server?.stop();
    await folder?.remove();
  });

  const readsOf = (name: "main" | "replica"): number =>
    Number(new RegExp(`vigil_history_reads_total\\{server="${name}"\\} (\\d+)`).exec(metrics.render())?.[1] ?? 0);
  const isUp = (): boolean => /^vigil_read_replica_up 1$/m.test(metrics.render());
  const isWritten = async (id: number): Promise<boolean> =>
    (await history.maybeOne`select id from notes where id = ${id}`) !== undefined;
  let number = 0;
  async function isAnsweredBy(name: "main" | "replica"): Promise<boolean> {
    const before = readsOf(name);
    await history.many`select 1 as one`;
    return readsOf(name) > before;
  }
  const untilAnsweredBy = (name: "main" | "replica") => until(async () => expect(await isAnsweredBy(name)).toBe(true));
  const write = async (): Promise<number> => {
    await main.run`insert into notes values (${++number})`;
    return number;
  };

  it("shows every write that was committed before the read, and answers most reads itself", async () => {
    const before = readsOf("replica");
    for (let round = 0; round < 100; round++) expect(await isWritten(await write())).toBe(true);
    expect(readsOf("replica")).toBeGreaterThan(before);
  });

  it("is not read while it is behind", async () => {
    await replica.many`select pg_wal_replay_pause()`;
    const id = await write();
    expect(await isWritten(id)).toBe(true);
    expect(await replica.maybeOne`select id from notes where id = ${id}`).toBeUndefined();
    expect(isUp()).toBe(true);
    await replica.many`select pg_wal_replay_resume()`;
    await untilAnsweredBy("replica");
    expect(await isWritten(id)).toBe(true);
  });

  it("is done without while it is down, and taken up again", async () => {
    await standby.stop();
    expect(await isWritten(await write())).toBe(true);
    expect(await isAnsweredBy("main")).toBe(true);
    expect(isUp()).toBe(false);
    standby.start();
    await untilAnsweredBy("replica");
    expect(await isWritten(await write())).toBe(true);
    expect(isUp()).toBe(true);
  });

  it("must be a standby of the main server", async () => {
    expect(await readReplicaState(main, replica)).toEqual({ reason: undefined, lagBytes: expect.any(Number) });
    expect(await checkReadReplica({ databaseReadUrl: standby.url }, main)).toMatchObject([{ ok: true }]);
    expect(await checkReadReplica({ databaseReadUrl: server.url }, main)).toMatchObject([{ ok: false }]);
    expect((await readReplicaState(main, main)).reason).toContain("not a standby");
    const other: TestDatabase = await createTestDatabase({ empty: true });
    const stranger = open(other.url);
    expect((await readReplicaState(main, stranger)).reason).toContain("not a copy");
    const reads = new ReadReplica({ main, replica: stranger, log, metrics: new Metrics() }).choose(main, stranger);
    expect(await reads.many`select id from notes where id = 1`).toHaveLength(1);
    await stranger.close();
    await other.drop();
  });
});
