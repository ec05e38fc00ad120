import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { sampleEvent } from "../../src/outbound/sample-event.ts";
import { appendOutbound } from "../../src/outbox/outbound-log.ts";
import type { WebhookEventType } from "../../src/outbox/webhook-event-types.ts";
import { partitionedTables } from "../../src/roles/partitioned-tables.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { type BrowserCalls, signIn } from "../support/browser-session.ts";
import { makeAuthority } from "../support/certificates.ts";
import { auditOf, nobodysId } from "../support/fixtures.ts";
import { openReceiver, type Receiver, signatureOf } from "../support/receiver.ts";
import { fetchToken, makeOrganization, makePerson, type TestOrganization } from "../support/world.ts";

const authority = makeAuthority();
const run = promisify(execFile);
const path = "/console/api/integrations/";
const uid = "490154203237518";
const otherUid = "490154203237526";

const sampleOf = (type: WebhookEventType): Record<string, unknown> => {
  const { test: _, ...data } = JSON.parse(sampleEvent(type, nobodysId, new Date()).body.toString()).data;
  return data;
};

interface Entry {
  id: string;
  type: string;
  withheld: string | null;
  push: string;
}

describe("deliveries in the console", () => {
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

  const create = async (fields: object = {}) =>
    (await admin.send("POST", path, { name: "Care app", webhook_url: receiver.url, ...fields })).body;

  const append = (type: WebhookEventType, deviceUid = uid, data = sampleOf(type)) =>
    api.db.transaction((tx) =>
      appendOutbound(
        tx,
        [{ organizationId: organization.id, type, deviceUid, occurredAtMs: api.clock.nowMs(), data }],
        api.clock.nowMs(),
      ),
    );

  const entriesOf = async (id: string, query = ""): Promise<Entry[]> =>
    (await admin.get(`${path}${id}/events/?${query}`)).body.results;

  it("show the log as the partner would replay it, with the reason where a row is withheld", async () => {
    const made = await create({ messaging_enabled: true });
    for (const type of ["alarm.sos", "message.sent", "location.update"] as const) await append(type);
    await append("alarm.fall", otherUid);
    await admin.send("PATCH", `${path}${made.id}/`, {
      scopes: ["events:read", "messaging:read"],
      webhook_device_filter: [uid],
      messaging_enabled: false,
    });
    const shown = async (query = "") =>
      (await entriesOf(made.id, query)).map(({ type, withheld, push }) => [type, withheld, push]);
    expect(await shown()).toEqual([
      ["alarm.fall", "filter", "waiting"],
      ["location.update", "scope", "waiting"],
      ["message.sent", "messaging", "waiting"],
      ["alarm.sos", null, "waiting"],
    ]);
    await admin.send("PATCH", `${path}${made.id}/`, { webhook_event_types: ["alarm.fall"] });
    expect((await shown("order=asc"))[0]).toEqual(["alarm.sos", "type", "waiting"]);
    await admin.send("PATCH", `${path}${made.id}/`, { webhook_event_types: [] });
    expect((await shown("visibility=shown")).map(([type]) => type)).toEqual(["alarm.sos"]);
    expect(await shown("visibility=withheld")).toHaveLength(3);
    expect(await shown(`device_uid=${otherUid}`)).toEqual([["alarm.fall", "filter", "waiting"]]);
    expect(await shown("device_uid=no-imei")).toEqual([]);
    expect(await shown("type=location.update")).toHaveLength(1);

    const token = await fetchToken(api, { clientId: made.client_id, clientSecret: made.client_secret });
    const replayed = (await api.call("GET", "/api/v1/partner/outbound-events/", { token })).body.data;
    expect(replayed.map((row: Entry) => row.id)).toEqual(
      (await entriesOf(made.id, "visibility=shown")).map(({ id }) => id),
    );
  });

  it("are followed page by page, and from the last row on", async () => {
    const made = await create();
    for (let n = 0; n < 5; n++) await append("alarm.sos");
    const all = await entriesOf(made.id);
    expect(all).toHaveLength(5);
    const first = (await admin.get(`${path}${made.id}/events/?page_size=3`)).body;
    const next = new URL(first.next);
    const second = (await admin.get(next.pathname + next.search)).body;
    expect([...first.results, ...second.results]).toEqual(all);
    expect([second.next, first.previous]).toEqual([null, null]);
    expect(await entriesOf(made.id, `after=${all[0]?.id}`)).toEqual([]);
    await append("alarm.fall");
    expect((await entriesOf(made.id, `after=${all[0]?.id}`)).map(({ type }) => type)).toEqual(["alarm.fall"]);
    expect((await admin.get(`${path}${made.id}/events/?after=1`)).status).toBe(400);
    expect((await admin.get(`${path}${made.id}/events/?cursor=nonsense`)).status).toBe(400);
  });

  it("show one event with its body and a command that sends it, signed for this moment and without the secret", async () => {
    const made = await create();
    await append("alarm.sos", uid, { text: "Anna's" });
    const [entry] = await entriesOf(made.id);
    const detail = await admin.get(`${path}${made.id}/events/${entry?.id}/`);
    expect(detail.body).toMatchObject({ id: entry?.id, type: "alarm.sos", push: "waiting", attempts: [] });
    expect(JSON.parse(detail.body.body)).toMatchObject({ id: entry?.id, data: { text: "Anna's" } });
    expect(detail.text).not.toContain(made.webhook_secret);
    const folder = await mkdtemp(join(tmpdir(), "vigil-curl-"));
    await writeFile(join(folder, "ca.pem"), authority.ca);
    const command = detail.body.request.curl.replace("curl ", `curl -sS --cacert ${join(folder, "ca.pem")} `);
    await run("sh", ["-c", command]);
    await rm(folder, { recursive: true });
    const call = receiver.calls.at(-1);
    expect(call?.raw.toString()).toBe(detail.body.body);
    expect(call?.headers["x-signature"]).toBe(signatureOf(made.webhook_secret, call?.raw as Buffer));
    expect([call?.id, call?.headers["x-event-type"], call?.headers["content-type"]]).toEqual([
      entry?.id,
      "alarm.sos",
      "application/json",
    ]);
    const ageS = api.clock.nowMs() / 1000 - Number(call?.headers["webhook-timestamp"]);
    expect(ageS).toBeLessThan(60);
  });

  it("send one event again, unless the integration does not receive it or it is about to be sent", async () => {
    const made = await create();
    await append("alarm.sos");
    const [entry] = await entriesOf(made.id);
    const resend = () => admin.send("POST", `${path}${made.id}/events/${entry?.id}/resend/`);
    expect([(await resend()).status, (await resend()).body]).toEqual([202, { resent: 0 }]);
    // As if it had been delivered.
    await api.db.run`
      update delivery_lanes set cursor_ms = ${api.clock.nowMs() + 1000} where integration_id = ${made.id}`;
    expect((await resend()).body).toEqual({ resent: 1 });
    expect((await resend()).body).toEqual({ resent: 0 });
    expect((await auditOf(api, made.id)).at(-1)?.changes).toEqual({ resent: [null, entry?.id] });
    expect((await entriesOf(made.id))[0]?.push).toBe("retrying");
    await admin.send("PATCH", `${path}${made.id}/`, { scopes: ["devices:read"] });
    expect(Object.keys((await resend()).body.errors)).toEqual(["event_id"]);
    expect((await admin.get(`${path}${made.id}/events/${entry?.id}/`)).body).toMatchObject({
      withheld: "scope",
      request: null,
    });
    await admin.send("PATCH", `${path}${made.id}/`, { webhook_url: null });
    expect(Object.keys((await resend()).body.errors)).toEqual(["webhook_url"]);
  });

  it("find no event of another integration or organization", async () => {
    const made = await create();
    const other = await create();
    await append("alarm.sos");
    const [entry] = await entriesOf(other.id);
    for (const id of [entry?.id, nobodysId]) {
      expect((await admin.get(`${path}${made.id}/events/${id}/`)).status).toBe(404);
      expect((await admin.send("POST", `${path}${made.id}/events/${id}/resend/`)).status).toBe(404);
    }
    const stranger = await signIn(api, (await makePerson(api, await makeOrganization(api), "OWNER")).email);
    expect((await stranger.get(`${path}${other.id}/events/${entry?.id}/`)).status).toBe(404);
    expect((await stranger.get(`${path}health/`)).body).toEqual({ results: [] });
  });

  it("have their health in one answer for all integrations, and in one for each", async () => {
    const made = await create();
    const { results } = (await admin.get(`${path}health/`)).body;
    const one = (await admin.get(`${path}${made.id}/health/`)).body;
    expect(one).toMatchObject({
      integration_id: made.id,
      window_hours: 24,
      success_share: null,
      waiting: 0,
      failing_since: null,
    });
    expect(one.hours).toHaveLength(24);
    expect(results.find((row: { integration_id: string }) => row.integration_id === made.id)).toEqual(one);
  });

  it("show what was used of the rate limits, and both secrets while they overlap", async () => {
    const made = await create();
    const access = async () => (await admin.get(`${path}${made.id}/access/`)).body;
    expect(await access()).toMatchObject({
      rate_limits: [
        { name: "per_minute", used: 0, resets_at: null },
        { name: "per_hour", used: 0, window_seconds: 3600 },
      ],
      client_secrets: [{ valid_until: null }],
      webhook_secret_previous_until: null,
      has_webhook_secret: true,
    });
    const token = await fetchToken(api, { clientId: made.client_id, clientSecret: made.client_secret });
    await api.call("GET", "/api/v1/organizations/self/", { token });
    expect((await access()).rate_limits[0].used).toBeGreaterThan(0);
    const client = (await admin.send("POST", `${path}${made.id}/rotate-secret/`)).body;
    const hook = (await admin.send("POST", `${path}${made.id}/rotate-webhook-secret/`)).body;
    const both = await access();
    expect(both.client_secrets).toMatchObject([{ valid_until: null }, { valid_until: client.previous_valid_until }]);
    expect(both.webhook_secret_previous_until).toBe(hook.previous_valid_until);
  });
});
