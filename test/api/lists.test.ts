import { Type } from "@sinclair/typebox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../src/db/sql.ts";
import { sqlCursorPage } from "../../src/http/list-results.ts";
import { defineList } from "../../src/http/lists.ts";
import { choicesParam } from "../../src/http/query-params.ts";
import { type Route, route } from "../../src/http/route.ts";
import { cursorPageOf, refTo } from "../../src/http/schemas.ts";
import { uuidV7 } from "../../src/lib/ids.ts";
import { baseUrl, openTestApi, type TestApi } from "../support/api.ts";
import { makeIntegration, makeOrganization, type TestIntegration } from "../support/world.ts";

interface SampleRow {
  id: string;
  ts: Date;
  kind: string;
}
const Sample = Type.Object({ id: Type.String(), ts: Type.String(), kind: Type.String() }, { $id: "Sample" });

const sampleList = defineList({
  kind: "cursor",
  ordering: ["ts"],
  defaultOrdering: "-ts",
  searches: "kind",
  filters: { kind: choicesParam("The kind.", ["even", "odd"]) },
});

const sampleRoutes: Route[] = [
  route({
    method: "GET",
    path: "/api/v1/samples/",
    operationId: "samples_list",
    tag: "Samples",
    summary: "Samples",
    partners: ["org:read"],
    people: "never",
    list: sampleList,
    responses: { 200: refTo(cursorPageOf(Sample)) },
    handle: async ({ db, list, page }) => {
      const query = list();
      const { kind } = query.filters;
      const rows = await sqlCursorPage<SampleRow>(db, query, {
        select: sql`id, ts, kind`,
        from: sql`samples`,
        where: kind ? [sql`kind = any(${kind}::text[])`] : [],
        search: sql`kind`,
        ordering: { ts: { column: sql`ts` } },
        key: sql`id`,
        valueType: "timestamptz",
        keyType: "uuid",
        position: (row) => ({ value: row.ts.toISOString(), id: row.id }),
      });
      return page(rows, (row) => ({ id: row.id, ts: row.ts.toISOString(), kind: row.kind }));
    },
  }),
];

describe("lists", () => {
  let api: TestApi;
  let integration: TestIntegration;
  const sampleCount = 45;

  beforeAll(async () => {
    api = await openTestApi({ routes: sampleRoutes });
    integration = await makeIntegration(api, await makeOrganization(api));
    await api.db.run`create table samples (id uuid primary key, ts timestamptz not null, kind text not null)`;
    for (let index = 0; index < sampleCount; index++) {
      // Several rows share a time: the key decides between them.
      const ts = new Date(Date.UTC(2026, 2, 1) + Math.floor(index / 4) * 1000);
      await api.db
        .run`insert into samples values (${uuidV7(ts.getTime())}, ${ts}, ${index % 2 === 0 ? "even" : "odd"})`;
    }
  });
  afterAll(() => api.close());

  const get = (path: string) => api.call("GET", `/api/v1/${path}`, { token: integration.token });
  const follow = async (link: string | null) => {
    expect(link).toMatch(new RegExp(`^${baseUrl}/api/v1/`));
    return api.call("GET", (link as string).slice(baseUrl.length), { token: integration.token });
  };

  describe("by page", () => {
    it("has a count, absolute links and results", async () => {
      const first = await get("protocols/?page_size=4&search=");
      expect(first.body.count).toBe(9);
      expect(first.body.results).toHaveLength(4);
      expect(first.body.previous).toBeNull();
      expect(first.body.next).toBe(`${baseUrl}/api/v1/protocols/?page_size=4&search=&page=2`);
      const second = await follow(first.body.next);
      expect(second.body.previous).toBe(`${baseUrl}/api/v1/protocols/?page_size=4&search=&page=1`);
      const third = await follow(second.body.next);
      expect([third.body.results.length, third.body.next]).toEqual([1, null]);
      expect((await get("protocols/?page_size=4&page=last")).body.results).toEqual(third.body.results);
    });

    it("builds links from the configured base, not from the Host header", async () => {
      const answer = await api.call("GET", "/api/v1/protocols/?page_size=1", {
        token: integration.token,
        headers: { host: "evil.example" },
      });
      expect(answer.body.next).toContain(`${baseUrl}/`);
    });

    it("reduces a larger page_size to 200 without an error", async () => {
      expect((await get("models/?page_size=100000")).status).toBe(200);
      expect((await get("models/?page_size=99999999999999999999999")).status).toBe(200);
    });

    it.each([
      ["page_size=0", "page_size"],
      ["page_size=-1", "page_size"],
      ["page_size=ten", "page_size"],
      ["page_size=1.5", "page_size"],
      ["page=0", "page"],
      ["page=-1", "page"],
      ["page=first", "page"],
      ["ordering=nothing", "ordering"],
      ["ordering=slug,nothing", "ordering"],
      ["ordering=--slug", "ordering"],
      ["search=a%00b", "search"],
    ])("refuses %s", async (query, field) => {
      const answer = await get(`protocols/?${query}`);
      expect([answer.status, answer.body.code]).toEqual([400, "validation_error"]);
      expect(Object.keys(answer.body.errors)).toEqual([field]);
    });

    it.each(["page=2", "page=999999999999999999999999999", "page=9007199254740993"])(
      "answers 404 past the end at %s",
      async (query) => {
        const answer = await get(`protocols/?${query}`);
        expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
      },
    );

    it("answers page 1 of an empty list, and no page 2", async () => {
      const empty = await get("protocols/?search=zzz");
      expect(empty.body).toEqual({ count: 0, next: null, previous: null, results: [] });
      expect((await get("protocols/?search=zzz&page=last")).status).toBe(200);
      expect((await get("protocols/?search=zzz&page=2")).status).toBe(404);
    });

    it("orders by code point, descending with a minus, by several fields", async () => {
      const slugs = async (query: string) =>
        (await get(`protocols/?${query}`)).body.results.map(({ slug }: { slug: string }) => slug);
      const up = await slugs("ordering=slug");
      expect(up).toEqual([...up].sort());
      expect(await slugs("ordering=-slug")).toEqual([...up].reverse());
      expect(await slugs("ordering=name,-slug")).toHaveLength(9);
      expect(await slugs("")).toEqual(up);
    });

    it("searches without case anywhere in the fields, wildcards taken literally", async () => {
      expect((await get("protocols/?search=OSMAND")).body.count).toBe(1);
      expect((await get("protocols/?search=%25")).body.count).toBe(0);
      expect((await get("audit-log/?search=%25")).body.count).toBe(0);
      expect((await get("audit-log/?search=_")).body.count).toBe(0);
      expect((await get("audit-log/?search=CARE+co")).body.count).toBe(1);
    });

    it("ignores unknown parameters and takes the last of a repeated one", async () => {
      expect((await get("protocols/?limit=abc&colour=red&page_size=x&page_size=2")).body.results).toHaveLength(2);
    });
  });

  describe("by cursor", () => {
    const ids = (answer: { body: { results: SampleRow[] } }) => answer.body.results.map(({ id }) => id);

    async function walk(query: string): Promise<string[]> {
      const seen: string[] = [];
      let answer = await get(`samples/?${query}`);
      for (;;) {
        expect(answer.status).toBe(200);
        expect("count" in answer.body).toBe(false);
        seen.push(...ids(answer));
        if (answer.body.next === null) return seen;
        answer = await follow(answer.body.next);
      }
    }

    it("shows every row once, in order, whatever the page size", async () => {
      const newestFirst = await walk("page_size=7");
      expect(new Set(newestFirst).size).toBe(sampleCount);
      expect(await walk("page_size=1000000")).toEqual(newestFirst);
      expect(await walk("page_size=1")).toEqual(newestFirst);
      expect(await walk("page_size=4&order=asc")).toEqual([...newestFirst].reverse());
      expect(await walk("page_size=4&ordering=ts&order=desc")).toEqual([...newestFirst].reverse());
      expect(await walk("order=desc")).toEqual(newestFirst);
    });

    it("goes back by previous to where it came from", async () => {
      const first = await get("samples/?page_size=10");
      expect(first.body.previous).toBeNull();
      const second = await follow(first.body.next);
      const third = await follow(second.body.next);
      const back = await follow(third.body.previous);
      expect(ids(back)).toEqual(ids(second));
      const start = await follow(back.body.previous);
      expect(ids(start)).toEqual(ids(first));
      expect(start.body.previous).toBeNull();
      expect(ids(await follow(start.body.next))).toEqual(ids(second));
    });

    it("is not shifted by rows that arrive meanwhile", async () => {
      const first = await get("samples/?page_size=10");
      await api.db
        .run`insert into samples values (${uuidV7(Date.UTC(2030, 0, 1))}, ${new Date(Date.UTC(2030, 0, 1))}, 'even')`;
      const second = await follow(first.body.next);
      expect(ids(second).some((id) => ids(first).includes(id))).toBe(false);
      await api.db.run`delete from samples where ts > '2029-01-01'`;
    });

    it("keeps filters and search in its links", async () => {
      const odd = await walk("kind=odd&page_size=5");
      expect(odd).toHaveLength(22);
      expect(await walk("search=OD&page_size=5")).toEqual(odd);
      expect(await walk("kind=odd,even&page_size=20")).toHaveLength(sampleCount);
    });

    it("refuses a broken cursor, and one of another ordering", async () => {
      const { body } = await get("samples/?page_size=3");
      const cursor = new URL(body.next).searchParams.get("cursor") as string;
      const forged = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString("base64url");
      const broken = [
        "abc",
        "%00",
        forged({}),
        forged([]),
        forged(["-ts", 1, "x", "y"]),
        ...["1", "0000-01-01T00:00:00.000Z", "+275760-09-13T00:00:00.000Z", "2026-02-31T00:00:00.000Z"].map((time) =>
          forged(["-ts", 1, time, "019ca877-814b-7d10-a2c4-5b6e7f801122"]),
        ),
        forged(["-ts", 1, "2026-03-01T00:00:00.000Z", "------------------------------------"]),
        forged(["-ts", 7, "2026-03-01T00:00:00.000Z", "019ca877-814b-7d10-a2c4-5b6e7f801122"]),
        forged(["-ts", 1, 5, null]),
        `${cursor}x`.slice(5),
        ...["x", "xx", "xxx", "!"].map((added) => cursor + added),
      ];
      for (const text of broken) {
        const answer = await get(`samples/?cursor=${text}`);
        expect([text, answer.status, answer.body.code]).toEqual([text, 400, "invalid_cursor"]);
      }
      expect((await get("samples/?cursor=")).status).toBe(200);
      const other = await get(`samples/?cursor=${cursor}&order=asc`);
      expect([other.status, other.body.code]).toEqual([400, "invalid_cursor"]);
    });

    it.each([
      ["order=up", "order"],
      ["ordering=&order=up", "order"],
      ["ordering=id", "ordering"],
      ["ordering=ts,-ts", "ordering"],
      ["page_size=0", "page_size"],
      ["kind=other", "kind"],
      ["kind=odd,other", "kind"],
    ])("refuses %s", async (query, field) => {
      const answer = await get(`samples/?${query}`);
      expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([400, [field]]);
    });
  });
});
