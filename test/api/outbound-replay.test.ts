import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { formatUuid, uuidBytes, uuidV7Floor } from "../../src/lib/ids.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { replay, replayPath, tell } from "../support/outbound.ts";
import { idsIn, makeReplayLog, refusalIn, typesIn } from "../support/replay-log.ts";
import {
  makeIntegration,
  makeOrganization,
  makePerson,
  type TestIntegration,
  type TestOrganization,
} from "../support/world.ts";

const start = new Date("2026-03-01T08:15:30.000Z");
const clock = makeManualClock(start);
const dayMs = 86_400_000;
let api: TestApi;
let organization: TestOrganization;
let integration: TestIntegration;

beforeAll(async () => {
  api = await openTestApi({ clock });
});
beforeEach(async () => {
  clock.set(start);
  ({ organization, integration } = await makeReplayLog(api));
});
afterAll(() => api.close());

const above = (id: string): string => {
  const bytes = uuidBytes(id);
  bytes[15] = (bytes[15] as number) + 1;
  return formatUuid(bytes);
};

describe("a page of the log", () => {
  it("has the envelopes byte for byte as they are stored, in the order of their ids", async () => {
    await tell(api, organization, ["location.update", "alarm.sos"]);
    clock.advanceMs(5);
    await tell(api, organization, ["device.online"]);
    const answer = await replay(api, integration.token);
    const stored = await api.db.many<{ body: string }>`
      select body from outbound_events where integration_id = ${integration.id} order by id`;
    expect(answer.text).toBe(
      `{"data":[${stored.map(({ body }) => body).join(",")}],"next_cursor":null,"has_more":false}`,
    );
    expect(answer.headers["content-type"]).toMatch(/^application\/json/);
    expect(answer.headers["x-signature"]).toBeUndefined();
    expect(typesIn(answer)).toEqual(["location.update", "alarm.sos", "device.online"]);
    expect(idsIn(answer).toSorted()).toEqual(idsIn(answer));
    expect(answer.body.data[1]).toEqual({
      id: idsIn(answer)[1],
      type: "alarm.sos",
      occurred_at: "2026-03-01T08:15:30.000Z",
      partner_integration_id: integration.id,
      device: { uid: "490154203237518", imei: "490154203237518" },
      data: expect.objectContaining({ event_type: "sos", message: "SOS pressed" }),
    });
  });

  it("leads through all rows by its cursor, and says where the end is", async () => {
    await tell(
      api,
      organization,
      Array.from({ length: 7 }, () => "location.update" as const),
    );
    const seen: string[] = [];
    let since: string | undefined;
    for (const expected of [3, 3, 1]) {
      const page = await replay(api, integration.token, { limit: 3, ...(since ? { since } : {}) });
      expect(idsIn(page)).toHaveLength(expected);
      seen.push(...idsIn(page));
      const isLast = expected === 1;
      expect([page.body.has_more, page.body.next_cursor]).toEqual([!isLast, isLast ? null : seen.at(-1)]);
      since = seen.at(-1);
    }
    expect(new Set(seen).size).toBe(7);
    expect(idsIn(await replay(api, integration.token, { since: since as string }))).toEqual([]);
  });

  it("reports no further rows when the page is exactly full, even after rows that are filtered out", async () => {
    await tell(api, organization, ["location.update", "location.update", "alarm.sos", "alarm.sos"]);
    const page = await replay(api, integration.token, { limit: 2, types: "location.update" });
    expect([page.body.has_more, page.body.next_cursor, idsIn(page).length]).toEqual([false, null, 2]);
  });

  it("has 100 rows, and up to 500 on request", async () => {
    await tell(
      api,
      organization,
      Array.from({ length: 510 }, () => "alarm.sos" as const),
    );
    expect(idsIn(await replay(api, integration.token))).toHaveLength(100);
    const page = await replay(api, integration.token, { limit: 500 });
    expect([idsIn(page).length, page.body.has_more]).toEqual([500, true]);
  });

  it("is that of the caller's integration alone", async () => {
    const other = await makeIntegration(api, organization);
    await tell(api, organization, ["location.update"]);
    const [mine, others] = [await replay(api, integration.token), await replay(api, other.token)];
    expect(idsIn(mine)).toHaveLength(1);
    expect(idsIn(others)).toHaveLength(1);
    expect(idsIn(mine)).not.toEqual(idsIn(others));
    expect(others.body.data[0].partner_integration_id).toBe(other.id);
    const stranger = await makeIntegration(api, await makeOrganization(api));
    expect(idsIn(await replay(api, stranger.token))).toEqual([]);
  });

  it("keeps its order whatever `ordering` says", async () => {
    await tell(api, organization, ["location.update", "alarm.sos"]);
    for (const ordering of ["-id", "type", "nonsense", "", "\0"]) {
      expect(typesIn(await replay(api, integration.token, { ordering }))).toEqual(["location.update", "alarm.sos"]);
    }
  });

  it("finds IMEIs and types by part of them, in any case", async () => {
    await tell(api, organization, ["location.update", "alarm.sos"], "490154203237518");
    await tell(api, organization, ["location.update"], "860000000000001");
    const found = async (search: string) => typesIn(await replay(api, integration.token, { search }));
    expect(await found("ALARM")).toEqual(["alarm.sos"]);
    expect(await found("0000001")).toEqual(["location.update"]);
    expect(await found("32375")).toEqual(["location.update", "alarm.sos"]);
    expect(await found("_")).toEqual([]);
    expect(await found("")).toHaveLength(3);
    expect(refusalIn(await replay(api, integration.token, { search: "a\0b" }))).toEqual([400, "validation_error"]);
  });

  it("searches 31 days at most, however long rows are kept", async () => {
    const patient = await openTestApi({ clock, url: api.url, retentionDays: 90 });
    const since = (days: number): string => uuidV7Floor(start.getTime() - days * dayMs);
    const asked = (query: Record<string, string>) => replay(patient, integration.token, query);
    expect((await asked({ since: since(80) })).status).toBe(200);
    expect((await asked({ since: since(30), search: "sos" })).status).toBe(200);
    const refused = await asked({ since: since(32), search: "sos" });
    expect(refusalIn(refused)).toEqual([400, "validation_error"]);
    expect(refused.text).toContain("at most 31 days");
    await patient.close();
  });
});

describe("a call that is refused", () => {
  it("has the error body of this path, whatever the reason", async () => {
    const { token: person } = await makePerson(api, organization, "OWNER");
    for (const [token, expected] of [
      [undefined, [401, "not_authenticated"]],
      ["pt_nonsense", [401, "invalid_token"]],
      [person, [403, "partner_token_required"]],
    ] as const) {
      const answer = await api.call("GET", replayPath, { token });
      expect(refusalIn(answer)).toEqual(expected);
      expect(answer.body).toEqual({
        error: { code: expected[1], message: expect.any(String), request_id: answer.headers["x-request-id"] },
      });
      expect(refusalIn(await api.call("GET", replayPath.slice(0, -1), { token }))).toEqual(expected);
    }
    const strict = await makeIntegration(api, await makeOrganization(api, { perMinute: 1 }));
    await replay(api, strict.token);
    const throttled = await replay(api, strict.token);
    expect(refusalIn(throttled)).toEqual([429, "throttled"]);
    expect(throttled.headers["retry-after"]).toBeDefined();
    const other = await api.call("POST", replayPath, { token: integration.token });
    expect([other.status, other.body.code]).toEqual([403, "scope_not_available"]);
  });

  it.each([
    "",
    "nonsense",
    "\0",
    "8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31",
    "019ca877-8198-7a3c-cf61-2b7e5d0c4a11",
    "019ca877-8198-7a3c-0f61-2b7e5d0c4a11",
    "019ca87781987a3c9f612b7e5d0c4a11",
  ])("for the cursor %j", async (since) => {
    expect(refusalIn(await replay(api, integration.token, { since }))).toEqual([400, "invalid_cursor"]);
  });

  it.each(["", "0", "501", "-1", "1.5", "1e2", "ten", "99999999999999999999"])("for the limit %j", async (limit) => {
    expect(refusalIn(await replay(api, integration.token, { limit }))).toEqual([400, "invalid_limit"]);
  });

  it.each(["", ",", " , ,"])("for the types %j", async (given) => {
    expect(refusalIn(await replay(api, integration.token, { types: given }))).toEqual([400, "invalid_filter"]);
  });

  it("hears of the cursor first, then of the limit, then of the types", async () => {
    const wrong = { types: "", limit: "0", since: "x" };
    expect(refusalIn(await replay(api, integration.token, wrong))).toEqual([400, "invalid_cursor"]);
    expect(refusalIn(await replay(api, integration.token, { types: "", limit: "0" }))).toEqual([400, "invalid_limit"]);
    const old = uuidV7Floor(clock.nowMs() - 31 * dayMs);
    expect(refusalIn(await replay(api, integration.token, { ...wrong, since: old }))).toEqual([410, "cursor_expired"]);
  });

  it("accepts a cursor in upper case, one of nobody, and one newer than every row", async () => {
    await tell(api, organization, ["alarm.sos", "device.online"]);
    const [first, last] = idsIn(await replay(api, integration.token)) as [string, string];
    expect(idsIn(await replay(api, integration.token, { since: first.toUpperCase() }))).toEqual([last]);
    expect(idsIn(await replay(api, integration.token, { since: above(first) }))).toEqual([last]);
    expect(idsIn(await replay(api, integration.token, { since: uuidV7Floor(clock.nowMs() - 1) }))).toHaveLength(2);
    for (const since of [above(last), "ffffffff-ffff-7fff-bfff-ffffffffffff"]) {
      const page = await replay(api, integration.token, { since });
      expect(page.body).toEqual({ data: [], next_cursor: null, has_more: false });
    }
  });
});

describe("the retention", () => {
  it("ends cursors from before the window, and names the oldest one that works", async () => {
    await tell(api, organization, ["alarm.sos"]);
    clock.advanceMs(dayMs);
    await tell(api, organization, ["device.online"]);
    const [first, second] = idsIn(await replay(api, integration.token)) as [string, string];
    clock.set(new Date(start.getTime() + 30 * dayMs));
    expect(idsIn(await replay(api, integration.token, { since: first }))).toEqual([second]);
    clock.advanceMs(1);
    const expired = await replay(api, integration.token, { since: first });
    expect(refusalIn(expired)).toEqual([410, "cursor_expired"]);
    const cursor = expired.body.error.oldest_available_cursor;
    expect(expired.body.error).toEqual({
      code: "cursor_expired",
      message: "The cursor is older than the 30 day retention window.",
      request_id: expired.headers["x-request-id"],
      oldest_available_cursor: uuidV7Floor(start.getTime() + dayMs),
    });
    expect(idsIn(await replay(api, integration.token, { since: cursor }))).toEqual([second]);
  });

  it("does not show rows older than the window, although they are still there", async () => {
    await tell(api, organization, ["alarm.sos"]);
    clock.advanceMs(1000);
    await tell(api, organization, ["device.online"]);
    clock.set(new Date(start.getTime() + 30 * dayMs + 500));
    expect(typesIn(await replay(api, integration.token))).toEqual(["device.online"]);
    expect(await api.db.many`select id from outbound_events where integration_id = ${integration.id}`).toHaveLength(2);
  });

  it("names a cursor a minute inside the window when the oldest row is nearer to its edge, or there is none", async () => {
    const old = uuidV7Floor(start.getTime() - dayMs);
    const cursorAt = async (timeMs: number): Promise<string> => {
      clock.set(new Date(timeMs));
      const answer = await replay(api, integration.token, { since: old });
      expect(refusalIn(answer)).toEqual([410, "cursor_expired"]);
      const cursor = answer.body.error.oldest_available_cursor;
      expect((await replay(api, integration.token, { since: cursor })).status).toBe(200);
      return cursor;
    };
    const end = start.getTime() + 30 * dayMs;
    expect(await cursorAt(end)).toBe(uuidV7Floor(start.getTime() + 60_000));
    clock.set(start);
    await tell(api, organization, ["alarm.sos"]);
    expect(await cursorAt(end)).toBe(uuidV7Floor(start.getTime() + 60_000));
    expect(await cursorAt(end - 60_001)).toBe(uuidV7Floor(start.getTime()));
  });

  it("says so before all filters: the oldest row counts although it is not shown", async () => {
    await tell(api, organization, ["alarm.sos"]);
    clock.advanceMs(dayMs);
    await tell(api, organization, ["device.online"]);
    clock.advanceMs(dayMs);
    const since = uuidV7Floor(start.getTime() - 29 * dayMs);
    const answer = await replay(api, integration.token, { since, types: "device.online" });
    expect(answer.body.error.oldest_available_cursor).toBe(uuidV7Floor(start.getTime()));
  });
});

describe("ids", () => {
  it("go on above the last one when the clock is set far ahead and back, and the rows are shown and kept", async () => {
    clock.set(new Date(start.getTime() + 400 * dayMs));
    await tell(api, organization, ["alarm.sos"]);
    clock.set(start);
    await tell(api, organization, ["device.online", "location.update"]);
    const page = await replay(api, integration.token);
    expect(typesIn(page)).toEqual(["alarm.sos", "device.online", "location.update"]);
    expect(idsIn(page).toSorted()).toEqual(idsIn(page));
    expect(typesIn(await replay(api, integration.token, { since: idsIn(page)[0] as string }))).toEqual([
      "device.online",
      "location.update",
    ]);
  });

  it("begin a new millisecond when the counter of the last one is used up", async () => {
    await api.db.run`
      update outbound_lanes set last_ms = ${start.getTime() + 5}, last_seq = ${2 ** 34 - 2} where integration_id = ${integration.id}`;
    await tell(api, organization, ["alarm.sos", "device.online"]);
    const [first, second] = idsIn(await replay(api, integration.token)) as [string, string];
    expect(first > uuidV7Floor(start.getTime() + 6) && second > first).toBe(true);
  });
});
