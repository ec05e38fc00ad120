import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { noteWalNeeds, pruneArchive } from "../../src/roles/wal-archive.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

const dayMs = 86_400_000;
const nowMs = Date.UTC(2026, 10, 18);
const wal = (number: number): string => `0000000100000000000000${String(number).padStart(2, "0")}`;
let database: TestDatabase;
let db: Database;
let archive: string;
const folder = (): string => join(archive, "line");
const files = (): string[] => readdirSync(folder()).sort();

beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ connection: { connectionString: database.url }, log: makeLogger("silent") });
  archive = mkdtempSync(join(tmpdir(), "vigil-wal-"));
  mkdirSync(folder());
  for (const number of [1, 2, 3, 4, 5, 6]) writeFileSync(join(folder(), `${wal(number)}.gz`), "");
});
afterAll(async () => {
  rmSync(archive, { recursive: true, force: true });
  await db.close();
  await database.drop();
});

const backUp = (daysAgo: number, first_wal: string, wal_archive: string | null = "line"): Promise<void> =>
  noteWalNeeds(
    db,
    { started_at: new Date(nowMs - daysAgo * dayMs).toISOString(), first_wal, wal_archive },
    new Date(nowMs),
  );

test("archived WAL stays while no backup is old enough to cover the time that is kept", async () => {
  await backUp(2, wal(5));
  await backUp(30, wal(6), "another line");
  await backUp(30, wal(6), null);
  expect(await pruneArchive(db, folder(), 7, nowMs)).toEqual([]);
  expect(files()).toHaveLength(6);
});

test("archived WAL before the newest backup of that age is removed", async () => {
  await backUp(20, wal(2));
  await backUp(9, wal(3));
  expect(await pruneArchive(db, folder(), 7, nowMs)).toEqual([wal(1), wal(2)]);
  expect(files()).toEqual([3, 4, 5, 6].map((number) => `${wal(number)}.gz`));
});
