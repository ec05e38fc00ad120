import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { formatUuid, uuidBytes, uuidV7Floor } from "../../src/lib/ids.ts";
import { allScopes } from "../../src/oauth/scopes.ts";
import { allWebhookEventTypes } from "../../src/resources/organizations/webhook-event-types.ts";
import { openTestApi, type TestAnswer, type TestApi } from "../support/api.ts";
import { replay, replayPath, setIntegration, tell } from "../support/outbound.ts";
import { type SampleType, sampleData } from "../support/outbound-samples.ts";
import {
  fetchToken,
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
  await renew();
});
afterEach(async () => {
  clock.set(start);
  await renew();
});
afterAll(() => api.close());

/** A log of its own for each test. */
async function renew(): Promise<void> {
  organization = await makeOrganization(api);
  integration = await makeIntegration(api, organization);
  // The tests move the clock by weeks.
  await api.db.run`update access_tokens set expires_at = '2100-01-01' where integration_id = ${integration.id}`;
}

const ids = ({ body }: TestAnswer): string[] => body.data.map(({ id }: { id: string }) => id);
const types = ({ body }: TestAnswer): string[] => body.data.map(({ type }: { type: string }) => type);
const refusal = ({ status, body }: TestAnswer) => [status, body.error.code];
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
    expect(types(answer)).toEqual(["location.update", "alarm.sos", "device.online"]);
    expect(ids(answer).toSorted()).toEqual(ids(answer));
    expect(answer.body.data[1]).toEqual({
      id: ids(answer)[1],
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
      expect(ids(page)).toHaveLength(expected);
      seen.push(...ids(page));
      const isLast = expected === 1;
      expect([page.body.has_more, page.body.next_cursor]).toEqual([!isLast, isLast ? null : seen.at(-1)]);
      since = seen.at(-1);
    }
    expect(new Set(seen).size).toBe(7);
    expect(ids(await replay(api, integration.token, { since: since as string }))).toEqual([]);
  });

  it("knows no more when the page is just full, also behind rows that are left out", async () => {
    await tell(api, organization, ["location.update", "location.update", "alarm.sos", "alarm.sos"]);
    const page = await replay(api, integration.token, { limit: 2, types: "location.update" });
    expect([page.body.has_more, page.body.next_cursor, ids(page).length]).toEqual([false, null, 2]);
  });

  it("has 100 rows, and up to 500 on request", async () => {
    await tell(
      api,
      organization,
      Array.from({ length: 510 }, () => "alarm.sos" as const),
    );
    expect(ids(await replay(api, integration.token))).toHaveLength(100);
    const page = await replay(api, integration.token, { limit: 500 });
    expect([ids(page).length, page.body.has_more]).toEqual([500, true]);
  });

  it("is that of the caller's integration alone", async () => {
    const other = await makeIntegration(api, organization);
    await tell(api, organization, ["location.update"]);
    const [mine, others] = [await replay(api, integration.token), await replay(api, other.token)];
    expect(ids(mine)).toHaveLength(1);
    expect(ids(others)).toHaveLength(1);
    expect(ids(mine)).not.toEqual(ids(others));
    expect(others.body.data[0].partner_integration_id).toBe(other.id);
    const stranger = await makeIntegration(api, await makeOrganization(api));
    expect(ids(await replay(api, stranger.token))).toEqual([]);
  });

  it("keeps its order whatever `ordering` says", async () => {
    await tell(api, organization, ["location.update", "alarm.sos"]);
    for (const ordering of ["-id", "type", "nonsense", "", "\0"]) {
      expect(types(await replay(api, integration.token, { ordering }))).toEqual(["location.update", "alarm.sos"]);
    }
  });

  it("finds IMEIs and types by part of them, in any case", async () => {
    await tell(api, organization, ["location.update", "alarm.sos"], "490154203237518");
    await tell(api, organization, ["location.update"], "860000000000001");
    const found = async (search: string) => types(await replay(api, integration.token, { search }));
    expect(await found("ALARM")).toEqual(["alarm.sos"]);
    expect(await found("0000001")).toEqual(["location.update"]);
    expect(await found("32375")).toEqual(["location.update", "alarm.sos"]);
    expect(await found("_")).toEqual([]);
    expect(await found("")).toHaveLength(3);
    expect(refusal(await replay(api, integration.token, { search: "a\0b" }))).toEqual([400, "validation_error"]);
  });
});

describe("the description", () => {
  it("has the shape of every type, which the examples of the contract fit", async () => {
    const every = Object.keys(sampleData) as SampleType[];
    expect(every.toSorted()).toEqual(allWebhookEventTypes.toSorted());
    await setIntegration(api, organization, integration, { webhookEventTypes: allWebhookEventTypes });
    await tell(api, organization, every);
    // Answers are held against the description, without further keys.
    const page = await replay(api, integration.token);
    expect(types(page)).toEqual(every);
    expect(page.body.data.map(({ data }: { data: object }) => data)).toEqual(Object.values(sampleData));
  });

  it("tells what is sent to webhooks, with the same schemas", async () => {
    const { body: description } = await api.call("GET", "/api/schema/?format=json");
    const webhooks = description["x-webhooks"];
    expect(Object.keys(webhooks)).toEqual(allWebhookEventTypes);
    for (const type of allWebhookEventTypes) {
      const { parameters, requestBody } = webhooks[type].post;
      const [, name] = /^#\/components\/schemas\/(.+)$/.exec(requestBody.content["application/json"].schema.$ref) ?? [];
      expect(description.components.schemas[name as string].properties.type.enum).toEqual([type]);
      const headers = parameters.map(({ name: header }: { name: string }) => header);
      expect(headers).toEqual(expect.arrayContaining(["Idempotency-Key", "X-Signature", "X-Event-Type"]));
    }
  });
});

describe("the gate of each row", () => {
  const all: SampleType[] = ["location.update", "alarm.sos", "device.online", "message.received"];
  const shown = async (token = integration.token, query = {}) => types(await replay(api, token, query));

  it("follows the scopes of the token", async () => {
    await tell(api, organization, all);
    expect(await shown(await fetchToken(api, integration, "locations:read messaging:read"))).toEqual([
      "location.update",
      "message.received",
    ]);
    expect(await shown(await fetchToken(api, integration, "org:read"))).toEqual([]);
  });

  it("follows the scopes that are still granted", async () => {
    await tell(api, organization, all);
    const token = await fetchToken(api, integration);
    await setIntegration(api, organization, integration, { scopes: ["events:read"] });
    await expect.poll(() => shown(token)).toEqual(["alarm.sos"]);
    await setIntegration(api, organization, integration, { scopes: allScopes });
    await expect.poll(() => shown(token)).toEqual(all);
  });

  it("follows the types of now: a wider list shows older rows", async () => {
    await tell(api, organization, all);
    await setIntegration(api, organization, integration, { webhookEventTypes: ["alarm.sos"] });
    expect(await shown()).toEqual(["alarm.sos"]);
    await setIntegration(api, organization, integration, { webhookEventTypes: ["alarm.sos", "device.online"] });
    expect(await shown()).toEqual(["alarm.sos", "device.online"]);
    await setIntegration(api, organization, integration, { webhookEventTypes: [] });
    expect(await shown()).toEqual(all);
  });

  it("follows the device filter of now, which does not concern samples", async () => {
    await setIntegration(api, organization, integration, {
      webhookEventTypes: ["webhook.test", "alarm.sos"],
      webhookDeviceFilter: ["860000000000001"],
    });
    await tell(api, organization, ["alarm.sos"], "490154203237518");
    await tell(api, organization, ["alarm.sos"], "860000000000001");
    await tell(api, organization, ["webhook.test"], "000000000000000");
    const page = await replay(api, integration.token);
    const uids = page.body.data.map(({ device }: { device: { uid: string } }) => device.uid);
    expect(uids).toEqual(["860000000000001", "000000000000000"]);
    await setIntegration(api, organization, integration, { webhookDeviceFilter: [] });
    expect(await shown()).toHaveLength(3);
  });

  it("shows and writes messages only with the opt-in", async () => {
    await tell(api, organization, ["message.received"]);
    await setIntegration(api, organization, integration, { messagingEnabled: false });
    await expect.poll(() => shown()).toEqual([]);
    await tell(api, organization, ["message.received"]);
    await setIntegration(api, organization, integration, { messagingEnabled: true });
    await expect.poll(() => shown()).toEqual(["message.received"]);
  });

  it("shows and writes additive types only when they are named", async () => {
    await tell(api, organization, ["webhook.test", "alarm.sos"]);
    await setIntegration(api, organization, integration, { webhookEventTypes: ["webhook.test"] });
    expect(await shown()).toEqual([]);
    await tell(api, organization, ["webhook.test", "alarm.sos"]);
    expect(await shown()).toEqual(["webhook.test"]);
    await setIntegration(api, organization, integration, { webhookEventTypes: [] });
    expect(await shown()).toEqual(["alarm.sos", "alarm.sos"]);
  });

  it("writes what the scopes allow, also without a webhook and while the integration is disabled", async () => {
    await setIntegration(api, organization, integration, { scopes: ["events:read"] });
    await tell(api, organization, all);
    await setIntegration(api, organization, integration, { scopes: allScopes });
    await expect.poll(() => shown()).toEqual(["alarm.sos"]);
    await api.db.run`update integrations set status = 'disabled' where id = ${integration.id}`;
    await tell(api, organization, ["alarm.sos"]);
    await api.db.run`update integrations set status = 'active' where id = ${integration.id}`;
    await expect.poll(() => shown()).toEqual(["alarm.sos", "alarm.sos"]);
  });

  it("takes `types` out of what is subscribed, and drops what is unknown", async () => {
    await tell(api, organization, all);
    expect(await shown(undefined, { types: "alarm.sos, nonsense,location.update," })).toEqual([
      "location.update",
      "alarm.sos",
    ]);
    expect(await shown(undefined, { types: "nonsense" })).toEqual([]);
    await setIntegration(api, organization, integration, { webhookEventTypes: ["device.online"] });
    expect(await shown(undefined, { types: "alarm.sos" })).toEqual([]);
    expect(await shown(undefined, { types: "alarm.sos,device.online" })).toEqual(["device.online"]);
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
      expect(refusal(answer)).toEqual(expected);
      expect(answer.body).toEqual({
        error: { code: expected[1], message: expect.any(String), request_id: answer.headers["x-request-id"] },
      });
      expect(refusal(await api.call("GET", replayPath.slice(0, -1), { token }))).toEqual(expected);
    }
    const strict = await makeIntegration(api, await makeOrganization(api, { perMinute: 1 }));
    await replay(api, strict.token);
    const throttled = await replay(api, strict.token);
    expect(refusal(throttled)).toEqual([429, "throttled"]);
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
    expect(refusal(await replay(api, integration.token, { since }))).toEqual([400, "invalid_cursor"]);
  });

  it.each(["", "0", "501", "-1", "1.5", "1e2", "ten", "99999999999999999999"])("for the limit %j", async (limit) => {
    expect(refusal(await replay(api, integration.token, { limit }))).toEqual([400, "invalid_limit"]);
  });

  it.each(["", ",", " , ,"])("for the types %j", async (given) => {
    expect(refusal(await replay(api, integration.token, { types: given }))).toEqual([400, "invalid_filter"]);
  });

  it("hears of the cursor first, then of the limit, then of the types", async () => {
    const wrong = { types: "", limit: "0", since: "x" };
    expect(refusal(await replay(api, integration.token, wrong))).toEqual([400, "invalid_cursor"]);
    expect(refusal(await replay(api, integration.token, { types: "", limit: "0" }))).toEqual([400, "invalid_limit"]);
    const old = uuidV7Floor(clock.nowMs() - 31 * dayMs);
    expect(refusal(await replay(api, integration.token, { ...wrong, since: old }))).toEqual([410, "cursor_expired"]);
  });

  it("accepts a cursor in upper case, one of nobody, and one newer than every row", async () => {
    await tell(api, organization, ["alarm.sos", "device.online"]);
    const [first, last] = ids(await replay(api, integration.token)) as [string, string];
    expect(ids(await replay(api, integration.token, { since: first.toUpperCase() }))).toEqual([last]);
    expect(ids(await replay(api, integration.token, { since: above(first) }))).toEqual([last]);
    expect(ids(await replay(api, integration.token, { since: uuidV7Floor(clock.nowMs() - 1) }))).toHaveLength(2);
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
    const [first, second] = ids(await replay(api, integration.token)) as [string, string];
    clock.set(new Date(start.getTime() + 30 * dayMs));
    expect(ids(await replay(api, integration.token, { since: first }))).toEqual([second]);
    clock.advanceMs(1);
    const gone = await replay(api, integration.token, { since: first });
    expect(refusal(gone)).toEqual([410, "cursor_expired"]);
    const cursor = gone.body.error.oldest_available_cursor;
    expect(gone.body.error).toEqual({
      code: "cursor_expired",
      message: "The cursor is older than the 30 day retention window.",
      request_id: gone.headers["x-request-id"],
      oldest_available_cursor: uuidV7Floor(start.getTime() + dayMs),
    });
    expect(ids(await replay(api, integration.token, { since: cursor }))).toEqual([second]);
  });

  it("does not show rows older than the window, although they are still there", async () => {
    await tell(api, organization, ["alarm.sos"]);
    clock.advanceMs(1000);
    await tell(api, organization, ["device.online"]);
    clock.set(new Date(start.getTime() + 30 * dayMs + 500));
    expect(types(await replay(api, integration.token))).toEqual(["device.online"]);
    expect(await api.db.many`select id from outbound_events where integration_id = ${integration.id}`).toHaveLength(2);
  });

  it("names a cursor a minute inside the window when the oldest row is nearer to its edge, or there is none", async () => {
    const old = uuidV7Floor(start.getTime() - dayMs);
    const cursorAt = async (timeMs: number): Promise<string> => {
      clock.set(new Date(timeMs));
      const answer = await replay(api, integration.token, { since: old });
      expect(refusal(answer)).toEqual([410, "cursor_expired"]);
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
    expect(types(page)).toEqual(["alarm.sos", "device.online", "location.update"]);
    expect(ids(page).toSorted()).toEqual(ids(page));
    expect(types(await replay(api, integration.token, { since: ids(page)[0] as string }))).toEqual([
      "device.online",
      "location.update",
    ]);
  });

  it("begin a new millisecond when the counter of the last one is used up", async () => {
    await api.db.run`
      update outbound_lanes set last_ms = ${start.getTime() + 5}, last_seq = ${2 ** 34 - 2} where integration_id = ${integration.id}`;
    await tell(api, organization, ["alarm.sos", "device.online"]);
    const [first, second] = ids(await replay(api, integration.token)) as [string, string];
    expect(first > uuidV7Floor(start.getTime() + 6) && second > first).toBe(true);
  });
});
