import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { maintainPartitions, type PartitionedTable } from "../../src/db/partitions.ts";
import { rawSql } from "../../src/db/sql.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

const dayMs = 86_400_000;
const nowMs = Date.UTC(2026, 10, 16, 12);

describe("partitions that become longer", () => {
  let database: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    database = await createTestDatabase();
    db = openDatabase({ connection: { connectionString: database.url }, log: makeLogger("silent") });
    await db.run(rawSql("create table walks (ts timestamptz not null) partition by range (ts)"));
  });
  afterAll(async () => {
    await db.close();
    await database.drop();
  });

  const weekly: PartitionedTable = { table: "walks", by: "time", spanDays: 7, pastSpans: 5, futureSpans: 2 };
  const longer: PartitionedTable = { ...weekly, spanDays: 28, formerSpanDays: 7, pastSpans: 2, futureSpans: 1 };

  it("take every time beside the shorter ones, and are all of one length where there were none", async () => {
    const before = await maintainPartitions(db, [weekly], nowMs);
    expect(before.created).toHaveLength(8);
    const upgrade = await maintainPartitions(db, [longer], nowMs);
    expect(upgrade.created.length).toBeGreaterThan(0);
    for (let day = -56; day <= 28; day++) await db.run`insert into walks values (${new Date(nowMs + day * dayMs)})`;
    expect(await maintainPartitions(db, [longer], nowMs)).toEqual({ created: [], dropped: [], kept: [] });
    const later = await maintainPartitions(db, [longer], nowMs + 200 * dayMs);
    expect(later.created).toHaveLength(4);
    expect(later.created.every((name) => /^walks_m\d{8}$/.test(name))).toBe(true);
    for (let day = 170; day <= 228; day++) await db.run`insert into walks values (${new Date(nowMs + day * dayMs)})`;
  });
});
