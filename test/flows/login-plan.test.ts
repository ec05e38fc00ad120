import { afterAll, beforeAll, expect, it } from "vitest";
import { type Database, type Db, openDatabase } from "../../src/db/database.ts";
import { Sql, sql } from "../../src/db/sql.ts";
import { openHold } from "../../src/ingest/device-hold.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { findWireDevice } from "../../src/resources/devices/wire-device.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

/** A table that nobody has analyzed yet: a thousand devices log in right after they were imported. */
let database: TestDatabase;
let db: Database;
const plans: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ connection: { connectionString: database.url }, log: makeLogger("silent"), poolSize: 1 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

/** Notes the plan of every statement and finds nothing. */
const explaining: Db = {
  many: async (statement, ...values) => {
    const given = statement instanceof Sql ? statement : new Sql(statement, values);
    const rows = await db.many<{ "QUERY PLAN": string }>(sql`explain ${given}`);
    plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
    return [];
  },
  one: () => Promise.reject(new Error("not asked for")),
  maybeOne: async (statement, ...values) => {
    await explaining.many(statement, ...values);
    return undefined;
  },
  run: () => Promise.reject(new Error("not asked for")),
};

it("a login reads the device by its id alone, and its own alarms alone, before the tables were ever analyzed", async () => {
  await findWireDevice(explaining, "iw", "860000000000001");
  expect(plans.at(-1)).toContain("Index Cond: (uid = ");
  const id = "01900000-0000-7000-8000-000000000001";
  const device = { id, organizationId: id, uid: "860000000000001" } as Parameters<typeof openHold>[1];
  const state = { last_location: null, last_status: {} } as Parameters<typeof openHold>[3];
  plans.length = 0;
  await openHold(explaining, device, 1, state, Date.now());
  const alarms = plans.find((plan) => plan.includes(" on events "));
  expect(alarms).toContain("Index Cond: ((device_id = ");
});
