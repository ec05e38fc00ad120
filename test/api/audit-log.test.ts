import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AuditEntry, recordAudit } from "../../src/resources/audit/audit-store.ts";
import { setIntegrationStatus, updateIntegration } from "../../src/resources/organizations/integration-store.ts";
import { cliActor, type TestApi } from "../support/api.ts";
import { testSecrets } from "../support/secrets.ts";
import {
  makeIntegration,
  makeOrganization,
  makePerson,
  openPartnerApi,
  type TestIntegration,
  type TestOrganization,
} from "../support/world.ts";

describe("audit log", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let integration: TestIntegration;

  beforeAll(async () => {
    ({ api, organization, integration } = await openPartnerApi({ slug: "care-co" }));
  });
  afterAll(() => api.close());

  const get = (query = "", token = integration.token) => api.call("GET", `/api/v1/audit-log/${query}`, { token });

  it("shows who changed what, newest first, with the writer's kind", async () => {
    const { body } = await get();
    expect(body.results.map((entry: { model_name: string }) => entry.model_name)).toEqual([
      "integration",
      "organization",
    ]);
    expect(body.results[1]).toEqual({
      id: expect.any(Number),
      action: 0,
      action_display: "created",
      actor: null,
      actor_type: "system",
      actor_partner_integration: null,
      content_type: 1,
      model_name: "organization",
      object_pk: organization.id,
      object_repr: "care-co",
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      correlation_id: null,
      remote_addr: null,
      changes_summary: expect.stringContaining("slug: null → care-co"),
    });
  });

  it("adds the values before and after, and how it was done, on the detail", async () => {
    await api.db.transaction((tx) =>
      updateIntegration(
        tx,
        organization.id,
        integration.id,
        { name: "Care & Co" },
        cliActor(organization.id),
        api.clock.now(),
        testSecrets,
      ),
    );
    const [newest] = (await get("?content_type=2&action=1")).body.results;
    const { body } = await get(`${newest.id}/`);
    expect(body.changes).toEqual({ name: ["Care Co", "Care & Co"] });
    expect(body.changes_summary).toBe("name: Care Co → Care & Co");
    expect(body.additional_data).toEqual({ via: "cli" });
  });

  it("never shows a secret", async () => {
    const created = (await get("?model_name=INTEGRATION&action=0")).body.results[0];
    const { body, text } = await get(`${created.id}/`);
    expect(body.changes.client_secret).toEqual([null, "***"]);
    expect(text).not.toContain(integration.clientSecret);
  });

  it("names the integration or the person, and marks a deleted integration", async () => {
    const writer = await makeIntegration(api, organization);
    const person = await makePerson(api, organization, "ADMIN");
    const entry: AuditEntry = {
      action: "updated",
      model: "device",
      objectPk: organization.id,
      objectRepr: "490154203237518",
      changes: { name: ["a", "b"] },
    };
    const where = { organizationId: organization.id, correlationId: "req-1", remoteAddr: "203.0.113.7" };
    await api.db.transaction(async (tx) => {
      await recordAudit(
        tx,
        { ...where, by: { type: "partners", integrationId: writer.id, integrationName: "Care Co" } },
        api.clock.now(),
        entry,
      );
      await recordAudit(
        tx,
        { ...where, by: { type: "users", id: person.id, email: person.email, fullName: "Ada Example" } },
        api.clock.now(),
        entry,
      );
    });
    const byPartner = (await get(`?actor_partner_integration=${writer.id}`)).body.results;
    expect(byPartner).toHaveLength(1);
    expect(byPartner[0]).toMatchObject({
      actor_type: "partners",
      actor_partner_integration: { id: writer.id, name: "Care Co", deleted: false },
      correlation_id: "req-1",
      remote_addr: "203.0.113.7",
    });
    const byPerson = (await get(`?actor=${person.id.toUpperCase()}`)).body.results;
    // The person signed in before, which is audited under the name the account has.
    expect(byPerson.map((row: { actor: unknown }) => row.actor)).toEqual([
      { id: person.id, email: person.email, full_name: "Ada Example" },
      { id: person.id, email: person.email, full_name: "" },
    ]);
    await api.db.transaction((tx) =>
      setIntegrationStatus(tx, organization.id, writer.id, "deleted", cliActor(organization.id), api.clock.now()),
    );
    const after = (await get(`?actor_partner_integration=${writer.id}`)).body.results[0];
    expect(after.actor_partner_integration).toEqual({ id: writer.id, name: "Care Co", deleted: true });
  });

  it("filters by kind of writer, model, time and search", async () => {
    const count = async (query: string) => (await get(query)).body.count;
    const all = await count("");
    expect(await count("?actor_type=partners")).toBe(1);
    expect(await count("?model_name=device")).toBe(2);
    expect(await count("?model_name=nothing")).toBe(0);
    expect(await count("?content_type=4")).toBe(2);
    expect(await count("?content_type=999")).toBe(0);
    expect(await count("?search=4203")).toBe(2);
    expect(await count("?timestamp_before=2020-01-01")).toBe(0);
    expect(await count("?timestamp_after=2020-01-01T00:00:00+02:00")).toBe(all);
    expect(await count(`?timestamp_after=${new Date(Date.now() + 3_600_000).toISOString()}`)).toBe(0);
  });

  it("takes times inclusive after and exclusive before", async () => {
    const { body } = await get("?ordering=timestamp");
    const { timestamp } = body.results[0];
    expect((await get(`?timestamp_after=${timestamp}`)).body.count).toBe(body.count);
    expect((await get(`?timestamp_before=${timestamp}`)).body.count).toBe(0);
  });

  it.each([
    ["action=9", "action"],
    ["action=x", "action"],
    ["actor=x", "actor"],
    ["actor_partner_integration=1", "actor_partner_integration"],
    ["actor_type=robots", "actor_type"],
    ["content_type=six", "content_type"],
    ["timestamp_after=yesterday", "timestamp_after"],
    ["timestamp_before=2026-02-30", "timestamp_before"],
    ["timestamp_before=2026-01-01T25:00:00Z", "timestamp_before"],
    ["ordering=object_repr", "ordering"],
    ["model_name=a%00", "model_name"],
  ])("refuses %s", async (query, field) => {
    const answer = await get(`?${query}`);
    expect([answer.status, answer.body.code, Object.keys(answer.body.errors)]).toEqual([
      400,
      "validation_error",
      [field],
    ]);
  });

  it("keeps the entries of other organizations to themselves", async () => {
    const stranger = await makeIntegration(api, await makeOrganization(api));
    const own = (await get()).body.results[0];
    expect((await get(`${own.id}/`)).status).toBe(200);
    const foreign = await get(`${own.id}/`, stranger.token);
    expect([foreign.status, foreign.body.code]).toEqual([404, "not_found"]);
    const theirs = (await get("", stranger.token)).body.results;
    expect(theirs.every((entry: { object_repr: string }) => entry.object_repr !== "care-co")).toBe(true);
    expect(theirs).toHaveLength(2);
  });
});
