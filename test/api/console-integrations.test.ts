import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { uuidV7 } from "../../src/lib/ids.ts";
import { appendOutbound } from "../../src/outbox/outbound-log.ts";
import { partitionedTables } from "../../src/roles/partitioned-tables.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { type BrowserCalls, signIn } from "../support/browser-session.ts";
import { makeAuthority } from "../support/certificates.ts";
import { auditOf, nobodysId } from "../support/fixtures.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";
import { fetchToken, makeOrganization, makePerson, type TestOrganization } from "../support/world.ts";

const authority = makeAuthority();
const path = "/console/api/integrations/";
const uid = "490154203237518";

describe("integrations in the console", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let admin: BrowserCalls;
  let receiver: Receiver;

  beforeAll(async () => {
    api = await openTestApi({ extraCa: authority.ca });
    await maintainPartitions(api.db, partitionedTables, api.clock.nowMs());
    organization = await makeOrganization(api);
    admin = await signIn(api, (await makePerson(api, organization, "ADMIN")).email);
    receiver = await openReceiver(authority);
  });
  afterAll(async () => {
    await receiver.close();
    await api.close();
  });

  const create = async (fields: object = {}) => {
    const answer = await admin.send("POST", path, { name: "Care app", ...fields });
    expect([answer.status, answer.text]).toEqual([201, answer.text]);
    return answer.body;
  };

  it("are created with secrets that are shown once, and listed without them", async () => {
    const made = await create({ webhook_url: receiver.url, scopes: ["devices:read"], link_hosts: ["app.example.org"] });
    expect(made).toMatchObject({ org: organization.slug, status: "active", scopes: ["devices:read"] });
    expect(made.client_secret).toMatch(/.{20}/);
    expect(made.webhook_secret).toMatch(/.{20}/);
    expect(await fetchToken(api, { clientId: made.client_id, clientSecret: made.client_secret })).toMatch(/^pt_/);
    const { client_secret, webhook_secret, ...record } = made;
    expect((await admin.get(`${path}${made.id}/`)).body).toEqual(record);
    const list = (await admin.get(`${path}?search=care`)).body;
    expect(list).toMatchObject({ count: 1, next: null, previous: null, results: [record] });
    const [entry] = await auditOf(api, made.id);
    expect([entry?.actor_type, JSON.stringify(entry)]).not.toContain(client_secret);
    expect([entry?.actor_type, JSON.stringify(entry).includes(webhook_secret)]).toEqual(["users", false]);
  });

  it("refuse what the command line refuses, field by field", async () => {
    const bad = await admin.send("POST", path, {
      name: " ",
      scopes: ["devices:fly"],
      webhook_event_types: ["alarm.none"],
      webhook_device_filter: ["12"],
      link_hosts: ["https://app.example.org/x"],
    });
    expect([bad.status, Object.keys(bad.body.errors)]).toEqual([
      400,
      ["name", "scopes", "webhook_event_types", "webhook_device_filter", "link_hosts"],
    ]);
    const plain = await admin.send("POST", path, { name: "x", webhook_url: "http://app.example.org/" });
    const inside = await admin.send("POST", path, { name: "x", webhook_url: "https://10.0.0.1/" });
    expect([plain, inside].map(({ status, body }) => [status, Object.keys(body.errors)])).toEqual([
      [400, ["webhook_url"]],
      [400, ["webhook_url"]],
    ]);
  });

  it("change, rotate, end their tokens and go", async () => {
    const made = await create();
    expect(made.webhook_secret).toBeNull();
    const set = await admin.send("PATCH", `${path}${made.id}/`, { name: "Other", webhook_url: receiver.url });
    expect([set.status, set.body.name, typeof set.body.webhook_secret]).toEqual([200, "Other", "string"]);
    const again = await admin.send("PATCH", `${path}${made.id}/`, { webhook_url: "" });
    expect([again.body.webhook_url, again.body.webhook_secret]).toEqual([null, null]);

    const rotated = (await admin.send("POST", `${path}${made.id}/rotate-secret/`)).body;
    expect(Object.keys(rotated)).toEqual(["id", "client_id", "client_secret", "previous_valid_until"]);
    const hook = (await admin.send("POST", `${path}${made.id}/rotate-webhook-secret/`)).body;
    expect(Object.keys(hook)).toEqual(["id", "webhook_secret", "previous_valid_until"]);

    const token = await fetchToken(api, { clientId: made.client_id, clientSecret: rotated.client_secret });
    expect((await admin.send("POST", `${path}${made.id}/disable/`)).body.status).toBe("disabled");
    expect((await api.call("GET", "/api/v1/organizations/self/", { token })).status).toBe(401);
    expect((await admin.send("POST", `${path}${made.id}/enable/`)).body.status).toBe("active");
    expect((await admin.send("POST", `${path}${made.id}/pause/`)).body.webhook_paused).toBe(true);
    expect((await admin.send("POST", `${path}${made.id}/resume/`)).body.webhook_paused).toBe(false);
    expect((await admin.send("DELETE", `${path}${made.id}/`)).status).toBe(204);
    expect((await admin.get(`${path}${made.id}/`)).status).toBe(404);
    expect((await auditOf(api, made.id)).length).toBe(10);
  });

  it("send a signed sample, and say what the receiver answered", async () => {
    const made = await create({ webhook_url: receiver.url });
    const good = await admin.send("POST", `${path}${made.id}/test/`, { type: "alarm.sos" });
    expect([good.status, good.body]).toMatchObject([
      200,
      { type: "alarm.sos", delivered: true, status_code: 200, error: null },
    ]);
    expect(receiver.calls.at(-1)?.id).toBe(good.body.event_id);
    receiver.answer(503);
    const failed = await admin.send("POST", `${path}${made.id}/test/`);
    receiver.answer(200);
    expect([failed.status, failed.body.delivered, failed.body.status_code]).toEqual([200, false, 503]);
    const unknown = await admin.send("POST", `${path}${made.id}/test/`, { type: "alarm.none" });
    expect([unknown.status, Object.keys(unknown.body.errors)]).toEqual([400, ["type"]]);
    const without = await admin.send("POST", `${path}${(await create()).id}/test/`);
    expect([without.status, Object.keys(without.body.errors)]).toEqual([400, ["webhook_url"]]);
  });

  it("show attempts and dead letters in pages, and make dead letters due again", async () => {
    const made = await create({ webhook_url: receiver.url });
    const entries = Array.from({ length: 3 }, (_, n) => ({
      organizationId: organization.id,
      type: "alarm.sos" as const,
      deviceUid: uid,
      occurredAtMs: api.clock.nowMs(),
      data: { n },
    }));
    await api.db.transaction((tx) => appendOutbound(tx, entries, api.clock.nowMs()));
    const events = await api.db.many<{ id: string }>`
      select id from outbound_events where integration_id = ${made.id} order by id`;
    const now = api.clock.now();
    for (const [index, { id }] of events.entries()) {
      const error = index === 0 ? null : "the answer was 500";
      await api.db.run`
        insert into delivery_attempts (integration_id, id, organization_id, event_id, type, device_uid, attempt,
          started_at, duration_ms, status_code, error)
        values (${made.id}, ${uuidV7(now.getTime() + index)}, ${organization.id}, ${id}, 'alarm.sos', ${uid}, 1, ${now},
          12, ${error ? 500 : 200}, ${error})`;
      if (error === null) continue;
      await api.db.run`
        insert into dead_letters (integration_id, id, organization_id, attempts, last_error, parked_at)
        values (${made.id}, ${id}, ${organization.id}, 5, ${error}, ${now})`;
    }
    const first = (await admin.get(`${path}${made.id}/attempts/?page_size=2`)).body;
    const second = (await admin.get(new URL(first.next).pathname + new URL(first.next).search)).body;
    const shown = [...first.results, ...second.results];
    expect(shown.map((one: { event_id: string }) => one.event_id)).toEqual(events.map(({ id }) => id).reverse());
    expect(shown.at(-1)).toEqual({
      event_id: events[0]?.id,
      type: "alarm.sos",
      device_uid: uid,
      attempt: 1,
      status: "delivered",
      status_code: 200,
      duration_ms: 12,
      error: null,
      at: now.toISOString(),
    });
    const count = async (query: string): Promise<number> =>
      (await admin.get(`${path}${made.id}/attempts/?${query}`)).body.results.length;
    expect(await Promise.all(["status=failed", "status=delivered", `device_uid=${uid}`].map(count))).toEqual([2, 1, 3]);
    expect(await count(`event_id=${events[1]?.id}`)).toBe(1);
    expect(await count(`ts_before=${new Date(now.getTime() - 1000).toISOString()}`)).toBe(0);
    expect((await admin.get(`${path}${made.id}/attempts/?status=lost`)).status).toBe(400);

    const letters = (await admin.get(`${path}${made.id}/dead-letters/?page_size=1`)).body;
    expect(letters.results).toHaveLength(1);
    expect(letters.results[0]).toMatchObject({ id: events[2]?.id, type: "alarm.sos", device_uid: uid, attempts: 5 });
    const one = await admin.send("POST", `${path}${made.id}/redrive/`, { ids: [events[2]?.id, nobodysId] });
    expect([one.status, one.body]).toEqual([202, { redriven: 1 }]);
    expect((await admin.send("POST", `${path}${made.id}/redrive/`, { all: true })).body).toEqual({ redriven: 1 });
    expect((await admin.send("POST", `${path}${made.id}/redrive/`, {})).status).toBe(400);
    expect((await admin.send("POST", `${path}${made.id}/redrive/`, { ids: [nobodysId], all: true })).status).toBe(400);
    expect((await auditOf(api, made.id)).at(-1)?.changes).toEqual({ redriven: [null, 1] });
  });
});
