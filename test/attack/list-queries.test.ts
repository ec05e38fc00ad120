import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDevice } from "../support/fixtures.ts";
import { openPartnerApi, type PartnerApi } from "../support/world.ts";

let partner: PartnerApi;
let address: string;
let uid: string;

beforeAll(async () => {
  // It listens on a port of its own, and counts what its connections keep.
  partner = await openPartnerApi({ isPrivate: true });
  address = await partner.api.app.listen({ host: "127.0.0.1", port: 0 });
  uid = (await makeDevice(partner.api, partner.organization)).uid;
});
afterAll(() => partner.api.close());

async function get(path: string): Promise<{ status: number; errors: Record<string, string[]> | undefined }> {
  const answer = await fetch(`${address}${path}`, { headers: { authorization: `Bearer ${partner.token}` } });
  const body = (await answer.json()) as { errors?: Record<string, string[]> };
  return { status: answer.status, errors: body.errors };
}

const fields = ["uid", "name", "created_at"];

describe("ordering", () => {
  it("takes each field once", async () => {
    for (const ordering of ["name,name", "name,-name", "uid,name,uid", Array(1000).fill("name").join(",")]) {
      expect(await get(`/api/v1/devices/?ordering=${ordering}`)).toEqual({
        status: 400,
        errors: { ordering: ["Each field can be given only once."] },
      });
    }
    expect((await get(`/api/v1/devices/?ordering=${fields.join(",")}`)).status).toBe(200);
  });

  it("by several fields leaves no prepared statement behind on any connection", async () => {
    const orderings = fields.flatMap((a) => fields.flatMap((b) => (a === b ? [] : [`${a},${b}`, `-${a},${b}`])));
    for (const ordering of ["name", ...orderings]) {
      expect((await get(`/api/v1/devices/?ordering=${ordering}`)).status).toBe(200);
    }
    const { db } = partner.api;
    // More than the pool has, so that each of its connections is asked.
    const kept = await Promise.all(
      Array.from(
        { length: 20 },
        () =>
          db.one<{ lists: number; orderings: number }>`
          select count(*) filter (where statement like '%from devices d%order by%') as lists,
            count(*) filter (where statement ~ 'order by d\\.\\w+ (asc|desc), d\\.\\w+ (asc|desc), d\\.id') as orderings,
            pg_sleep(0.05)
          from pg_prepared_statements`,
      ),
    );
    expect(Math.max(...kept.map(({ lists }) => lists))).toBeGreaterThan(0);
    expect(Math.max(...kept.map(({ orderings }) => orderings))).toBe(0);
  });
});

describe("search over a history", () => {
  const dayMs = 86_400_000;
  // One moment for both ends of a window: a millisecond between them would make it too wide.
  const nowMs = Date.now();
  const daysAgo = (days: number): string => new Date(nowMs - days * dayMs).toISOString();
  const tooWide = { search: ["A search can cover at most 31 days: narrow the time window."] };

  it.each(["locations", "telemetry"])("looks at 31 days of %s at most", async (noun) => {
    const search = (window: string): ReturnType<typeof get> => get(`/api/v1/devices/${uid}/${noun}/?search=x${window}`);
    expect((await search("")).status).toBe(200);
    expect((await search(`&ts_after=${daysAgo(30)}`)).status).toBe(200);
    expect((await search(`&ts_before=${daysAgo(300)}`)).status).toBe(200);
    expect((await search(`&ts_after=${daysAgo(331)}&ts_before=${daysAgo(300)}`)).status).toBe(200);
    expect(await search(`&ts_after=${daysAgo(32)}`)).toEqual({ status: 400, errors: tooWide });
    expect(await search(`&ts_after=${daysAgo(332)}&ts_before=${daysAgo(300)}`)).toEqual({
      status: 400,
      errors: tooWide,
    });
    expect((await get(`/api/v1/devices/${uid}/${noun}/?ts_after=${daysAgo(332)}`)).status).toBe(200);
  });

  it("finds nothing older than 31 days without a window", async () => {
    const { db } = partner.api;
    const [device] = await db.many<{ id: string; organization_id: string }>`
      select id, organization_id from devices where uid = ${uid}`;
    await db.run`create table telemetry_attack partition of telemetry for values from ('2020-01-01') to ('2030-01-01')`;
    for (const days of [1, 40]) {
      await db.run`
        insert into telemetry (device_id, ts, id, organization_id, received_at, data)
        values (${device?.id}, ${daysAgo(days)}, gen_random_uuid(), ${device?.organization_id}, now(), '{"steps": 1}')`;
    }
    const list = async (query: string): Promise<number> => {
      const answer = await partner.api.call("GET", `/api/v1/devices/${uid}/telemetry/${query}`, {
        token: partner.token,
      });
      return answer.body.results.length;
    };
    expect([await list(""), await list("?search=steps")]).toEqual([2, 1]);
    expect(await list(`?search=steps&ts_before=${daysAgo(39)}`)).toBe(1);
  });
});
