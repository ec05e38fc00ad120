import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withEmbedded } from "../support/embedded-client.ts";
import { iwSos, registerFleet } from "../support/fleet.ts";
import { hasOldPostgres, oldBin, startOldPostgres } from "../support/old-postgres.ts";
import { startSteadyWatch } from "../support/steady-watch.ts";
import {
  fetchTokenOf,
  killVigil,
  makeCredentials,
  runVigil,
  startVigil,
  tempFolder,
  vigilJson,
} from "../support/vigil-process.ts";

const quiet = { VIGIL_GATEWAY_HOST: "127.0.0.1" };

describe.skipIf(!hasOldPostgres)("a database of PostgreSQL 15", { timeout: 600_000 }, () => {
  let folder: Awaited<ReturnType<typeof tempFolder>>;
  let credentials: Awaited<ReturnType<typeof makeCredentials>>;
  /** A digest of the rows of every table. */
  let before: Map<string, string>;
  const dataDir = (): string => join(folder.path, "data");
  const here = (): string[] => ["--data-dir", dataDir()];
  const upgrade = (): string[] => ["db", "upgrade", "--old-bin", oldBin, ...here()];

  async function digests(client: pg.Client): Promise<Map<string, string>> {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
         and relname <> 'schema_migrations' order by 1`,
    );
    const found = new Map<string, string>();
    for (const { name } of rows) {
      const sql = `select count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as digest from "${name}" t`;
      found.set(name, ((await client.query<{ digest: string }>(sql)).rows[0] as { digest: string }).digest);
    }
    return found;
  }

  beforeAll(async () => {
    folder = await tempFolder();
    chmodSync(folder.path, 0o755);
    await mkdir(dataDir());
    const old = await startOldPostgres(dataDir());
    try {
      const env = { ...quiet, DATABASE_URL: old.url };
      const service = await startVigil(here(), env);
      credentials = await makeCredentials(here(), env);
      const client = new pg.Client({ connectionString: old.url });
      await client.connect();
      const [uid = ""] = await registerFleet(client, 5);
      const help = { frame: iwSos, answer: "IWBP10" };
      await startSteadyWatch(service.gateway, uid, [Date.now() - 60_000], help).finished;
      await service.kill("SIGTERM");
      before = await digests(client);
      await client.end();
    } finally {
      await old.stop();
    }
  }, 600_000);
  afterAll(() => folder?.remove());

  it("is not started, with what to do about it, and not upgraded without its programs", async () => {
    const started = await runVigil(["start", ...here()]);
    expect(started).toMatchObject({ code: 1, stderr: expect.stringContaining("vigil db upgrade --old-bin DIR") });
    const without = await runVigil(["db", "upgrade", ...here()]);
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining("postgresql-15") });
    const wrong = await runVigil(["db", "upgrade", "--old-bin", folder.path, ...here()]);
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("does not run") });
  });

  it("is moved with every row, goes on after a kill, and the old one is kept until it is discarded", async () => {
    for (const delayMs of [4000, 7000]) {
      await killVigil(upgrade(), delayMs);
      expect(readFileSync(join(dataDir(), "postgres/cluster/PG_VERSION"), "utf8").trim()).toMatch(/^1[58]$/);
    }
    const done = await runVigil([...upgrade(), "--json"]);
    expect([done.code, done.stderr.slice(-300)]).toEqual([0, expect.anything()]);
    const after = await withEmbedded(dataDir(), digests);
    for (const [table, digest] of before) expect([table, after.get(table)]).toEqual([table, digest]);
    const kept = readdirSync(join(dataDir(), "postgres")).filter((name) => name.startsWith("cluster.old-pg15"));
    expect(kept).toHaveLength(1);
    expect(existsSync(join(dataDir(), "postgres/cluster.upgrade"))).toBe(false);
    expect(await vigilJson(["db", "upgrade", ...here()])).toMatchObject({ upgraded: false });
  });

  it("works afterwards", async () => {
    const service = await startVigil(here(), quiet);
    try {
      const token = await fetchTokenOf(service.http, credentials);
      const answer = await fetch(`${service.http}/api/v1/organizations/self/`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect(answer.status).toBe(200);
      // The sequences went with the rows: a new one continues.
      await makeCredentials(here());
    } finally {
      expect(await service.kill("SIGTERM")).toBe(0);
    }
    expect(await vigilJson<{ removed: string[] }>(["db", "upgrade", "--discard-old", ...here()])).toMatchObject({
      removed: [expect.stringContaining("cluster.old-pg15")],
    });
    expect(readdirSync(join(dataDir(), "postgres")).filter((name) => name.includes(".old-"))).toEqual([]);
  });
});
