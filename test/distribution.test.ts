import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../src/db/database.ts";
import { distributedTables } from "../src/db/distributed-tables.ts";
import { readDistribution } from "../src/db/distribution.ts";
import { findCatalogProblems } from "../src/db/distribution-catalog.ts";
import { makeLogger } from "../src/lib/logger.ts";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";
import { type SourceStatement, statementsOn, templatesIn } from "./support/sql-statements.ts";

const names = distributedTables.map(({ table }) => table);
const statements = statementsOn(resolve(import.meta.dirname, "../src"), names);

/** What a statement on a distributed table must not do, and how it is recognised. */
const rules: Record<string, (statement: string) => boolean> = {
  "names no distribution column": (text) =>
    distributedTables.some(({ table, column }) => new RegExp(`\\b${table}\\b`).test(text) && !text.includes(column)),
  "locks rows without their key": (text) => /\bfor update\b/.test(text) && !/\bdevice_id = \$/.test(text),
  "calculates with a column and a time of the server": (text) =>
    /\bset\b.*\w+ [+-] interval/.test(text) || /do update set .*\bnow\(\)/.test(text),
  "writes what the server makes up": (text) =>
    /\bset\b.*\b(random|clock_timestamp|gen_random_uuid|nextval)\(/.test(text),
  "answers an upsert with a time of the server": (text) => /\bon conflict\b.*\breturning\b.*\bnow\(/.test(text),
  "looks at xmax": (text) => /\bxmax\b/.test(text),
  merges: (text) => /^\s*merge\b/.test(text),
  "changes the distribution column": (text) =>
    distributedTables.some(({ table, column }) =>
      new RegExp(`\\bupdate ${table}\\b.* set (?:(?!\\bwhere\\b|\\bfrom\\b).)*\\b${column} =`).test(text),
    ),
  "claims with an outer statement over all shards": (text) =>
    /^(update|delete)\b.*\bin \(select\b.*\bskip locked\b/.test(text) && !/\bwhere (?:\w+\.)?device_id = \$/.test(text),
  "detaches a partition beside others": (text) => /\bdetach partition\b.*\bconcurrently\b/.test(text),
  "writes rows from unnest, which pass through the coordinator": (text) =>
    /\binsert into (\w+) .*\bselect\b.*\bunnest\(/.test(text),
  "joins laterally": (text) => /\blateral \(/.test(text),
  "joins many devices without naming them": (text) =>
    /\bunnest\(/.test(text) && /\bdevice_id = n\./.test(text) && !/\bdevice_id = any\(/.test(text),
};

/** Statements that break a rule, by file, and why they stay. */
const exceptions: Record<string, Record<string, string>> = {
  "names no distribution column": {
    "resources/locations/location-store.ts": "the device is named by ownedBy",
    "resources/telemetry/telemetry-store.ts": "the device is named by ownedBy",
  },
  "writes rows from unnest, which pass through the coordinator": {
    "ingest/frame-keys.ts": "keys of frames that may be known; on one server unnest is the cheapest form",
  },
};

function broken(rule: string, { text }: SourceStatement): boolean {
  return rules[rule]?.(text) === true;
}

describe("the tables that grow", () => {
  let database: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    database = await createTestDatabase();
    db = openDatabase({ connection: { connectionString: database.url }, log: makeLogger("silent") });
  });
  afterAll(async () => {
    await db.close();
    await database.drop();
  });

  it("have keys that a distributed database accepts, and nothing that it refuses", async () => {
    expect(await findCatalogProblems(db, distributedTables)).toEqual([]);
  });

  it("would be refused with a reason if they had not", async () => {
    const wrong = [
      { table: "events", column: "device_id", colocateWith: undefined },
      { table: "devices", column: "integration_id", colocateWith: undefined },
      { table: "no_such_table", column: "device_id", colocateWith: undefined },
    ] as const;
    const problems = await findCatalogProblems(db, wrong);
    expect(problems).toContain("events: has the trigger events_live_added");
    expect(problems).toContain("devices: has no column integration_id");
    expect(problems).toContain("no_such_table: there is no such table");
    expect(problems.some((problem) => problem.startsWith("devices: is referred to by"))).toBe(true);
  });

  it("are joined by integrations whose revision every change raises", async () => {
    const { id } = await db.one<{ id: string }>`
      with o as (
        insert into organizations (id, slug, name, timezone, default_locale, features, per_minute, per_hour, created_at, updated_at)
        values (gen_random_uuid(), 'o', 'O', 'UTC', 'en', '{}', 1, 1, now(), now()) returning id)
      insert into integrations (id, organization_id, name, client_id, status, scopes, webhook_event_types,
        webhook_device_filter, link_hosts, messaging_enabled, created_at, updated_at)
      select gen_random_uuid(), id, 'I', 'c', 'active', '{}', '{}', '{}', '{}', true, now(), now() from o returning id`;
    const change = () =>
      db.one<{ revision: number }>`update integrations set name = 'J' where id = ${id} returning revision`;
    expect([(await change()).revision, (await change()).revision]).toEqual([1, 2]);
  });

  it("cannot be distributed by a server without Citus, which says so", async () => {
    const plain = await createTestDatabase({ empty: true });
    const empty = openDatabase({ connection: { connectionString: plain.url }, log: makeLogger("silent") });
    const { citus, reasons, distributed } = await readDistribution(empty);
    await empty.close();
    await plain.drop();
    expect([citus, distributed]).toEqual([undefined, []]);
    expect(reasons).toEqual([expect.stringContaining("this server has no Citus")]);
  });
});

describe("statements on the tables that grow", () => {
  it.each([
    ["locks rows without their key", "select id from locations where ts < $1 for update skip locked"],
    ["calculates with a column and a time of the server", "update locations set ts = ts + interval '1 day'"],
    ["writes what the server makes up", "update locations set id = gen_random_uuid() where device_id = $1"],
    ["answers an upsert with a time of the server", "insert into t on conflict (id) do nothing returning id, now()"],
    ["looks at xmax", "insert into locations values ($1) on conflict (id) do nothing returning xmax = 0"],
    ["merges", "merge into locations using n on n.id = locations.id when matched then delete"],
    [
      "changes the distribution column",
      "update locations l set is_valid = true, device_id = $1 where l.device_id = $2",
    ],
    [
      "claims with an outer statement over all shards",
      "update telemetry set data = $1 where (device_id, id) in (select device_id, id from telemetry limit 5 for update skip locked)",
    ],
    ["detaches a partition beside others", "alter table locations detach partition p concurrently"],
    ["joins laterally", "select from devices d cross join lateral (select ts from locations) l"],
  ])("would be found if one %s", (rule, text) => {
    expect(broken(rule, { file: "x.ts", text })).toBe(true);
  });

  it("are found in the source, nested ones too", () => {
    const source = ["a`x $", "{b`y $", "{1} z`} w`\n// `no`\n/* `never` */ `q`"].join("");
    expect(templatesIn(source)).toEqual(["y $ z", "x $ w", "q"]);
    expect(statements.length).toBeGreaterThan(10);
    for (const name of names) expect(statements.some(({ text }) => text.includes(name))).toBe(true);
  });

  it.each(Object.keys(rules))("have no further one that %s", (rule) => {
    const listed = Object.keys(exceptions[rule] ?? {});
    const others = statements.filter((one) => broken(rule, one) && !listed.includes(one.file));
    expect(others).toEqual([]);
  });
});
