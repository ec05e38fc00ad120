import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { newUuid, uuidV7 } from "../../src/lib/ids.ts";
import { appendOutbound } from "../../src/outbox/outbound-log.ts";
import { createIntegration } from "../../src/resources/organizations/integration-store.ts";
import { partitionedTables } from "../../src/roles/partitioned-tables.ts";
import { cliActor, openTestApi, type TestApi } from "../support/api.ts";
import { type BrowserCalls, signIn } from "../support/browser-session.ts";
import { auditOf, makeDevice, nobodysId, type TestDevice } from "../support/fixtures.ts";
import { integrationSettings } from "../support/integration-settings.ts";
import { makeOperator } from "../support/operators.ts";
import { testSecrets } from "../support/secrets.ts";
import { makeOrganization, type TestOrganization } from "../support/world.ts";

const root = "/console/api/operator/";

describe("what operators mend", () => {
  let api: TestApi;
  let own: TestOrganization;
  let device: TestDevice;
  let operator: BrowserCalls;

  beforeAll(async () => {
    api = await openTestApi({ isPrivate: true });
    own = await makeOrganization(api, { slug: "care-co" });
    device = await makeDevice(api, own);
    await maintainPartitions(api.db, partitionedTables, api.clock.nowMs());
    await makeOperator(api, "ops@example.org");
    operator = await signIn(api, "ops@example.org");
  });
  afterAll(() => api.close());

  async function addWebhook(name: string): Promise<string> {
    const settings = integrationSettings({ name, webhookUrl: "https://hooks.example/vigil" });
    const made = await api.db.transaction((tx) =>
      createIntegration(tx, own.id, settings, cliActor(own.id), api.clock.now(), testSecrets),
    );
    return made.integration.id;
  }

  it("shows webhooks that are late and what was given up, and makes it due again in both logs", async () => {
    const [late, quiet] = [await addWebhook("Late"), await addWebhook("Quiet")];
    await api.db.run`
      update outbound_lanes set push_epoch = null where integration_id = ${quiet}`;
    const entry = {
      organizationId: own.id,
      type: "alarm.sos" as const,
      deviceUid: device.uid,
      occurredAtMs: api.clock.nowMs(),
      data: {},
    };
    await api.db.transaction((tx) => appendOutbound(tx, [entry, entry], api.clock.nowMs()));
    const events = await api.db.many<{ id: string }>`
      select id from outbound_events where integration_id = ${late} order by id`;
    for (const { id } of events) {
      await api.db.run`
        insert into dead_letters (integration_id, id, organization_id, attempts, last_error, parked_at)
        values (${late}, ${id}, ${own.id}, 5, 'the answer was 500', ${api.clock.now()})`;
    }
    expect((await operator.get(`${root}integrations/?failing=true`)).body).toMatchObject({
      count: 1,
      results: [{ id: late, organization: "care-co", dead_letters: 2, retrying: 0, last_error: "the answer was 500" }],
    });
    expect((await operator.get(`${root}integrations/?ordering=name`)).body.results).toMatchObject([
      { name: "Late", lag_seconds: expect.any(Number) },
      { name: "Quiet", lag_seconds: 0, last_error: null },
    ]);
    const letters = (await operator.get(`${root}integrations/${late}/dead-letters/?page_size=1`)).body;
    expect([letters.results[0].id, typeof letters.next]).toEqual([events[1]?.id, "string"]);
    const path = `${root}integrations/${late}/redrive/`;
    expect((await operator.send("POST", path, {})).status).toBe(400);
    const one = await operator.send("POST", path, { ids: [events[0]?.id] });
    expect([one.status, one.body]).toEqual([202, { redriven: 1 }]);
    expect((await operator.send("POST", path, { all: true })).body).toEqual({ redriven: 1 });
    expect((await operator.send("POST", path, { all: true })).body).toEqual({ redriven: 0 });
    expect((await auditOf(api, late)).at(-1)?.changes).toEqual({ redriven: [null, 1] });
    const { results } = (await operator.get(`${root}log/?page_size=2`)).body;
    expect(results).toMatchObject([
      { action: "redriven", organization: "care-co", object: "Late", detail: { id: late, count: 1 } },
      { action: "redriven" },
    ]);
    const foreign = await operator.send("POST", `${root}integrations/${nobodysId}/redrive/`, { all: true });
    expect(foreign.status).toBe(404);
  });

  it("shows poisoned packets with their frames, and stores those that can be stored", async () => {
    await api.db.run`
      insert into device_state (device_id, organization_id, session_epoch, is_online, last_status)
      values (${device.id}, ${own.id}, 1, false, '{}') on conflict do nothing`;
    const now = api.clock.now();
    const frames = ["IWAP49,61#", "no frame at all"];
    for (const [index, frame] of frames.entries()) {
      await api.db.run`
        insert into poisoned_packets (id, organization_id, device_id, protocol, reason, frame, received_at)
        values (${uuidV7(now.getTime())}, ${own.id}, ${device.id}, 'iw', 'TypeError', ${Buffer.from(frame)},
          ${new Date(now.getTime() - index * 1000)})`;
    }
    const path = `${root}poisoned-packets/`;
    const { results } = (await operator.get(path)).body;
    expect(results).toMatchObject([
      {
        uid: device.uid,
        organization: "care-co",
        protocol: "iw",
        reason: "TypeError",
        frame_hex: Buffer.from("IWAP49,61#").toString("hex"),
      },
      {},
    ]);
    expect((await operator.get(`${path}?uid=356938035643809`)).body.results).toEqual([]);
    const retry = (body: unknown) => operator.send("POST", `${path}retry/`, body);
    for (const body of [{}, { all: true, uid: device.uid }, { uid: "12" }, { ids: [] }]) {
      expect((await retry(body)).status).toBe(400);
    }
    expect((await retry({ ids: [newUuid()] })).body).toEqual({ retried: 0, stored: 0, failed: 0 });
    expect((await retry({ ids: [results[0].id] })).body).toEqual({ retried: 1, stored: 1, failed: 0 });
    const stored = await api.db.many`select data from telemetry where device_id = ${device.id}`;
    expect(stored).toEqual([{ data: { hr: 61 } }]);
    expect((await retry({ all: true })).body).toEqual({ retried: 1, stored: 0, failed: 1 });
    expect((await operator.get(path)).body.results).toHaveLength(1);
    const [entry] = (await operator.get(`${root}log/?page_size=1`)).body.results;
    expect(entry).toMatchObject({ action: "packets_retried", detail: { retried: 1, stored: 0, failed: 1 } });
  });
});
