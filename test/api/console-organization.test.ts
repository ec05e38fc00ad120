import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseCsv } from "../../src/lib/csv.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { recordAudit } from "../../src/resources/audit/audit-store.ts";
import { updateOrganization } from "../../src/resources/organizations/organization-store.ts";
import { cliActor, openTestApi, type TestApi } from "../support/api.ts";
import { type BrowserCalls, signIn } from "../support/browser-session.ts";
import { makeOrganization, makePerson, type TestOrganization } from "../support/world.ts";

describe("what administrators see of their organization", () => {
  let api: TestApi;
  let own: TestOrganization;
  let admin: BrowserCalls;

  beforeAll(async () => {
    api = await openTestApi();
    own = await makeOrganization(api, { features: ["pin_sim"] });
    admin = await signIn(api, (await makePerson(api, own, "ADMIN")).email);
  });
  afterAll(() => api.close());

  it("shows its settings, those of retention too", async () => {
    const retention = { locations: 365 };
    await api.db.transaction((tx) => updateOrganization(tx, own.id, { retention }, cliActor(own.id), api.clock.now()));
    expect((await admin.get("/console/api/organization/")).body).toMatchObject({
      slug: own.slug,
      timezone: "Europe/Rome",
      default_locale: "it",
      features: ["pin_sim"],
      retention,
      rate_limits: { per_minute: 100_000, per_hour: 1_000_000 },
    });
  });

  const cellsOf = async (query: string): Promise<string[][]> => {
    const answer = await admin.get(`/console/api/audit-log/export/?${query}`);
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("text/csv; charset=utf-8");
    expect(answer.headers["content-disposition"]).toContain('filename="audit-log.csv"');
    return parseCsv(answer.text).map(({ cells }) => cells);
  };

  it("exports the audit log by the filters of the list, whole, in order and without formulas", async () => {
    const foreign = await makeOrganization(api);
    const record = (organizationId: string, objectRepr: string) =>
      api.db.transaction((tx) =>
        recordAudit(tx, cliActor(organizationId), api.clock.now(), {
          action: "created",
          model: "geofence",
          objectPk: newUuid(),
          objectRepr,
          changes: { name: [null, objectRepr] },
        }),
      );
    await record(own.id, '=HYPERLINK("https://evil.example")');
    await record(foreign.id, "Of another organization");
    // More than are read at a time, in one moment.
    await api.db.run`
      insert into audit_log (organization_id, action, actor_type, content_type, object_pk, object_repr, search, timestamp,
        changes_summary, changes, additional_data)
      select ${own.id}, 1, 'system', 4, ${newUuid()}, 'Watch ' || n, 'watch ' || n, ${api.clock.now()}, '', '{}', '{}'
      from generate_series(1, 2500) n`;
    const [titles, ...fences] = await cellsOf("model_name=geofence");
    expect(titles?.slice(0, 3)).toEqual(["id", "timestamp", "actor_type"]);
    expect(fences.map((cells) => cells[7])).toEqual([`'=HYPERLINK("https://evil.example")`]);
    const devices = (await cellsOf("model_name=device")).slice(1);
    expect(devices).toHaveLength(2500);
    const ids = devices.map(([id]) => Number(id));
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    expect(await cellsOf("search=Watch%202500")).toHaveLength(2);
    expect((await admin.get("/console/api/audit-log/export/?action=9")).status).toBe(400);
  });
});
