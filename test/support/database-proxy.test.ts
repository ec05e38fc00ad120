import pg from "pg";
import { expect, it } from "vitest";
import { createTestDatabase } from "./database.ts";
import { openDatabaseProxy } from "./database-proxy.ts";

it("passes on an answer that comes only after its release", async () => {
  const database = await createTestDatabase({ empty: true });
  const proxy = await openDatabaseProxy(database.url);
  const direct = new pg.Client({ connectionString: database.url });
  const proxied = new pg.Client({ connectionString: proxy.url });
  proxied.on("error", () => undefined);
  await Promise.all([direct.connect(), proxied.connect()]);
  try {
    await direct.query("select pg_advisory_lock(1)");
    const release = proxy.withholdAnswersTo("awaited");
    const answer = proxied.query("select pg_advisory_lock_shared(1), 1 as awaited");
    const waiting = `select from pg_locks join pg_database d on d.oid = database
      where datname = current_database() and locktype = 'advisory' and not granted`;
    const isWaiting = async () => (await direct.query(waiting)).rowCount === 1;
    await expect.poll(isWaiting).toBe(true);
    release();
    await direct.query("select pg_advisory_unlock(1)");
    expect((await answer).rows).toMatchObject([{ awaited: 1 }]);
  } finally {
    await direct.end();
    await proxied.end();
    await proxy.close();
    await database.drop();
  }
});
