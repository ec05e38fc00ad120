import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { allScopes } from "../../src/oauth/scopes.ts";
import { allWebhookEventTypes } from "../../src/outbox/webhook-event-types.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { replay, setIntegration, tell } from "../support/outbound.ts";
import { type SampleType, sampleData } from "../support/outbound-samples.ts";
import { makeReplayLog, typesIn } from "../support/replay-log.ts";
import { fetchToken, type TestIntegration, type TestOrganization } from "../support/world.ts";

let api: TestApi;
let organization: TestOrganization;
let integration: TestIntegration;

beforeAll(async () => {
  api = await openTestApi({ clock: makeManualClock(new Date("2026-03-01T08:15:30.000Z")) });
});
beforeEach(async () => {
  ({ organization, integration } = await makeReplayLog(api));
});
afterAll(() => api.close());

describe("the gate of each row", () => {
  const all: SampleType[] = ["location.update", "alarm.sos", "device.online", "message.received"];
  const shown = async (token = integration.token, query = {}) => typesIn(await replay(api, token, query));

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

describe("the description", () => {
  it("has the shape of every type, which the examples of the contract fit", async () => {
    const every = Object.keys(sampleData) as SampleType[];
    expect(every.toSorted()).toEqual(allWebhookEventTypes.toSorted());
    await setIntegration(api, organization, integration, { webhookEventTypes: allWebhookEventTypes });
    await tell(api, organization, every);
    // Answers are held against the description, without further keys.
    const page = await replay(api, integration.token);
    expect(typesIn(page)).toEqual(every);
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
