import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyBetween } from "../../src/db/copy-between.ts";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { holdSchema } from "../../src/db/schema-hold.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { groupBy } from "../../src/lib/group-by.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { partitionedTables } from "../../src/roles/partitioned-tables.ts";
import { openTestApi } from "../support/api.ts";
import { createTestDatabase } from "../support/database.ts";
import { makeEvent } from "../support/events.ts";
import { makeDevice } from "../support/fixtures.ts";
import { addLocation, addTelemetry, makeHistoryPartitions } from "../support/history.ts";
import { fillOrganization } from "../support/large-organization.ts";
import { makeFence, makeThreshold } from "../support/rules.ts";
import { openPartnerApi, type PartnerApi } from "../support/world.ts";

const folder = resolve(import.meta.dirname, "../../migrations");
const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
const versions = names.slice(0, -1).map((name, index) => ({ version: index + 1, name }));
const clock = makeClock();
const log = makeLogger("silent");

/** What a database can hold of each earlier version is copied from one that was filled at the newest. */
describe("a database of an earlier version", () => {
  let head: PartnerApi;
  let filled: pg.Client;
  /** What is read, the table it comes from, and what the newest version answers. */
  const reads: { path: string; table: string; ids: string[] }[] = [];

  beforeAll(async () => {
    head = await openPartnerApi({ isPrivate: true, features: ["geofence_scoping", "managed_onboarding"] });
    const { api, organization, token } = head;
    filled = await connect(api.url);
    await fillOrganization(filled, organization.id, 20, 5000);
    await makeHistoryPartitions(api);
    const device = await makeDevice(api, organization);
    const ts = new Date(Date.now() - 3_600_000).toISOString();
    await addLocation(api, organization, device, { ts });
    await addTelemetry(api, organization, device, { ts, data: { hr: 71 } });
    await makeEvent(api, device);
    await makeFence(api, token);
    await makeThreshold(api, token, { scope: 10 });
    const base = `/api/v1/devices/${device.uid}`;
    const sent = await api.call("POST", `${base}/messages/send-text/`, { token, body: { text: "Dinner" } });
    expect(sent.status).toBe(201);
    const tables: Record<string, string> = {
      "/api/v1/auth/users/": "memberships",
      "/api/v1/devices/": "devices",
      "/api/v1/assignments/": "assignments",
      "/api/v1/organizations/invitations/": "invitations",
      "/api/v1/events/": "events",
      "/api/v1/geofences/": "geofences",
      "/api/v1/alert-thresholds/": "thresholds",
      "/api/v1/audit-log/": "audit_log",
      [`${base}/locations/`]: "locations",
      [`${base}/telemetry/`]: "telemetry",
      [`${base}/messages/`]: "messages",
    };
    for (const [path, table] of Object.entries(tables)) {
      reads.push({ path, table, ids: await idsAt(path, api.call) });
    }
    expect(reads.filter(({ ids }) => ids.length === 0)).toEqual([]);
  }, 180_000);
  afterAll(async () => {
    await filled.end();
    await head.api.close();
  });

  async function connect(url: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client;
  }

  async function idsAt(path: string, call: PartnerApi["api"]["call"]): Promise<string[]> {
    const { status, body } = await call("GET", path, { token: head.token });
    expect([path, status]).toEqual([path, 200]);
    return body.results.map((row: Record<string, unknown>) => String(row.id ?? row.uid)).sort();
  }

  interface Column {
    name: string;
    type: string;
    required: boolean;
  }

  async function columnsOf(client: pg.Client): Promise<Map<string, Column[]>> {
    const { rows } = await client.query<Column & { table: string }>(
      `select c.relname as table, a.attname as name, format_type(a.atttypid, null) as type,
         a.attnotnull and not a.atthasdef and a.attidentity = '' as required
       from pg_class c join pg_attribute a on a.attrelid = c.oid
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
         and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and c.relname <> 'schema_migrations'
       order by c.relname, a.attnum`,
    );
    return groupBy(rows, ({ table }) => table);
  }

  /** Rows of today in the shape of then; a column that is gone since gets a value of its type. */
  async function fillFromHead(target: pg.Client): Promise<string[]> {
    const now = await columnsOf(filled);
    const then = await columnsOf(target);
    await target.query("begin; set local session_replication_role = replica");
    for (const [table, columns] of then) {
      const present = new Set(now.get(table)?.map(({ name }) => name));
      if (present.size === 0) continue;
      const taken = columns.filter(({ name, required }) => present.has(name) || required);
      const values = taken.map(({ name, type }) => (present.has(name) ? `"${name}"` : emptyValue(type)));
      const into = taken.map(({ name }) => `"${name}"`).join(", ");
      // Some migrations put rows into tables of their own.
      await target.query(`delete from "${table}"`);
      const from = `copy (select ${values.join(", ")} from "${table}") to stdout`;
      await copyBetween(filled, from, target, `copy "${table}" (${into}) from stdin`);
    }
    await target.query("commit");
    return [...then.keys()];
  }

  function emptyValue(type: string): string {
    if (/\[\]$/.test(type)) return "'{}'";
    if (/^(smallint|integer|bigint|real|double precision|numeric)$/.test(type)) return "0";
    if (type === "boolean") return "false";
    if (type.startsWith("timestamp")) return "now()";
    if (type === "uuid") return "gen_random_uuid()";
    return type === "jsonb" ? "'{}'" : "''";
  }

  async function withEmptyDatabase(work: (db: Database, url: string) => Promise<void>): Promise<void> {
    const { url, drop } = await createTestDatabase({ empty: true });
    const db = openDatabase({ connection: { connectionString: url }, log });
    try {
      await work(db, url);
    } finally {
      await db.close();
      await drop();
    }
  }

  it.each(versions)("of schema $version ($name) is brought to the newest with its rows", async ({ version }) => {
    await withEmptyDatabase(async (db, url) => {
      expect(await migrate(db, clock, undefined, undefined, version)).toBe(version);
      const target = await connect(url);
      let tables: string[];
      try {
        const there = await existingTables(target);
        const wanted = partitionedTables.filter(({ table }) => there.has(table));
        await maintainPartitions(db, wanted, Date.now());
        tables = await fillFromHead(target);
      } finally {
        await target.end();
      }
      expect(await migrate(db, clock)).toBe(names.length - version);
      const api = await openTestApi({ url, isPrivate: true });
      try {
        for (const { path, table, ids } of reads) {
          if (tables.includes(table) && tables.includes("devices")) {
            expect([path, await idsAt(path, api.call)]).toEqual([path, ids]);
          }
        }
      } finally {
        await api.close();
      }
    });
  });

  async function existingTables(client: pg.Client): Promise<Set<string>> {
    const { rows } = await client.query<{ name: string }>("select relname as name from pg_class where relkind = 'p'");
    return new Set(rows.map(({ name }) => name));
  }

  it("is not changed while a service works with it", async () => {
    await withEmptyDatabase(async (db) => {
      await migrate(db, clock, undefined, undefined, names.length - 1);
      const release = await holdSchema(db, log);
      await expect(migrate(db, clock)).rejects.toThrow(/older version is running.*stop all its processes/);
      await release();
      expect(await migrate(db, clock)).toBe(1);
    });
  });

  it("that is newer than the program is refused", async () => {
    await withEmptyDatabase(async (db) => {
      await migrate(db, clock);
      await db.run`insert into schema_migrations values (${names.length + 1}, 'of-tomorrow', 'x', ${clock.now()})`;
      await expect(migrate(db, clock)).rejects.toThrow(/newer than this program.*upgrade vigil/);
    });
  });
});
