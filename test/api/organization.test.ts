import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { announceIdentityChange } from "../../src/oauth/identity-changes.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { until } from "../support/until.ts";
import {
  makeIntegration,
  makeOrganization,
  makePerson,
  type TestIntegration,
  type TestOrganization,
} from "../support/world.ts";

describe("organization self", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let integration: TestIntegration;

  beforeAll(async () => {
    api = await openTestApi();
    organization = await makeOrganization(api, {
      slug: "care-co",
      features: ["managed_onboarding"],
      perMinute: 600,
      perHour: 20_000,
    });
    integration = await makeIntegration(api, organization);
  });
  afterAll(() => api.close());

  it("shows the organization of the token with only the features that are on", async () => {
    const answer = await api.call("GET", "/api/v1/organizations/self/", { token: integration.token });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      name: "Organization care-co",
      slug: "care-co",
      timezone: "Europe/Rome",
      default_locale: "it",
      enabled_features: { managed_onboarding: true, messaging: true },
      integration_status: "Active",
      rate_limits: { per_minute: 600, per_hour: 20_000 },
    });
  });

  it("shows a change as soon as it is announced", async () => {
    const own = await makeOrganization(api, { perMinute: 600 });
    const { token } = await makeIntegration(api, own);
    const perMinute = async (): Promise<unknown> =>
      (await api.call("GET", "/api/v1/organizations/self/", { token })).body.rate_limits.per_minute;
    expect([await perMinute(), await perMinute()]).toEqual([600, 600]);
    await api.db.transaction(async (tx) => {
      await tx.run`update organizations set per_minute = 601 where id = ${own.id}`;
      await announceIdentityChange(tx);
    });
    await until(async () => expect(await perMinute()).toBe(601));
  });

  it("shows each integration of an organization its own features", async () => {
    const silent = await makeIntegration(api, organization, { messaging: false });
    const featuresOf = async ({ token }: TestIntegration): Promise<unknown> =>
      (await api.call("GET", "/api/v1/organizations/self/", { token })).body.enabled_features;
    for (let time = 0; time < 2; time++) {
      expect(await featuresOf(silent)).toEqual({ managed_onboarding: true });
      expect(await featuresOf(integration)).toEqual({ managed_onboarding: true, messaging: true });
    }
  });

  it("leaves messaging out for an integration that is not opted in", async () => {
    const silent = await makeIntegration(api, organization, { messaging: false });
    const answer = await api.call("GET", "/api/v1/organizations/self/", { token: silent.token });
    expect(answer.body.enabled_features).toEqual({ managed_onboarding: true });
  });

  it("refuses the session of a person", async () => {
    const owner = await makePerson(api, organization, "OWNER");
    const answer = await api.call("GET", "/api/v1/organizations/self/", { token: owner.token });
    expect(answer.status).toBe(403);
    expect(answer.body.code).toBe("partner_token_required");
  });
});
