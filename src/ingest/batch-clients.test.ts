import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { type Database, openDatabase } from "../db/database.ts";
import { makeLogger } from "../lib/logger.ts";
import { BatchClients } from "./batch-clients.ts";

let database: TestDatabase;
let db: Database;
let clients: BatchClients;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ connection: { connectionString: database.url }, log: makeLogger("silent") });
  clients = new BatchClients(db, undefined, 200);
});

afterAll(async () => {
  await clients.close();
  await db.close();
  await database.drop();
});

const answerOf = (text: string): Promise<unknown> => clients.use(async (client) => (await client.query(text)).rows[0]);

test("a server that does not answer is left, and the next attempt has another connection", async () => {
  const before = await answerOf("select pg_backend_pid() as pid");
  expect(await answerOf("select pg_backend_pid() as pid")).toEqual(before);
  await expect(answerOf("select pg_sleep(60)")).rejects.toThrow();
  const after = await answerOf("select pg_backend_pid() as pid");
  expect(after).not.toEqual(before);
});

test("an attempt that fails leaves a connection that the next one can use", async () => {
  const before = await answerOf("select pg_backend_pid() as pid");
  await expect(answerOf("begin; select 1 / 0")).rejects.toMatchObject({ code: "22012" });
  expect(await answerOf("select pg_backend_pid() as pid")).toEqual(before);
});
