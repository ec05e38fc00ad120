import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ColumnDecisions, columnDecisions } from "../../src/privacy/column-decisions.ts";
import { deviceTables } from "../../src/privacy/device-tables.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let columns: { table_name: string; column_name: string }[];

beforeAll(async () => {
  database = await createTestDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query(
    `select c.table_name, c.column_name from information_schema.columns c
     join pg_class t on t.relname = c.table_name and t.relnamespace = 'public'::regnamespace
       and t.relkind in ('r', 'p')
     where c.table_schema = 'public' and not t.relispartition order by 1, 2`,
  );
  columns = rows;
  await client.end();
});
afterAll(() => database?.drop());

const words = (text = ""): string[] => text.split(/\s+/).filter((word) => word !== "");
const keptOf = ({ kept = {} }: ColumnDecisions): string[] => Object.values(kept).flatMap((text) => words(text));
const decided = Object.entries(columnDecisions).flatMap(([table, decision]) =>
  [...new Set([...words(decision.rows), ...words(decision.cleared), ...keptOf(decision)])].map(
    (column) => `${table}.${column}`,
  ),
);

test("every column of the schema has a decision of what an erasure does to it, and no other has", () => {
  const existing = columns.map(({ table_name, column_name }) => `${table_name}.${column_name}`);
  expect(existing.length).toBeGreaterThan(300);
  expect(existing.filter((column) => !decided.includes(column))).toEqual([]);
  expect(decided.filter((column) => !existing.includes(column))).toEqual([]);
});

test("a column is erased, cleared or kept for a reason, never kept and erased", () => {
  for (const [table, decision] of Object.entries(columnDecisions)) {
    const isErased = decision.erasedWith !== undefined;
    expect([table, isErased, words(decision.rows).length > 0]).toEqual([table, isErased, isErased]);
    const changed = [...words(decision.rows), ...words(decision.cleared)];
    expect([table, keptOf(decision).filter((column) => changed.includes(column))]).toEqual([table, []]);
    for (const reason of Object.keys(decision.kept ?? {})) expect(reason.length).toBeGreaterThan(8);
  }
});

test("every table that names a device is erased with it, or cleared", () => {
  const named = columns.filter(({ column_name }) => /^device_(?:id|uid)$/.test(column_name));
  const tables = named.map(({ table_name }) => table_name);
  const open = tables.filter((table) => !columnDecisions[table]?.erasedWith?.includes("device"));
  expect(open).toEqual(["device_state"]);
  expect(deviceTables.filter(({ table }) => !tables.includes(table))).toEqual([]);
});

test("every table that names a person is erased with them, or cleared of them", () => {
  const named = columns.filter(({ column_name }) =>
    /^(?:actor_|sender_)?user_id$|^(?:invited|acknowledged)_by$/.test(column_name),
  );
  const open = named.filter(({ table_name, column_name }) => {
    const decision = columnDecisions[table_name];
    return !decision?.erasedWith?.includes("person") && !words(decision?.cleared).includes(column_name);
  });
  expect(open).toEqual([]);
});
