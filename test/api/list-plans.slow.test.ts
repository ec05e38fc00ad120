import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listPeople, personList } from "../../src/console/person-list.ts";
import type { Db } from "../../src/db/database.ts";
import { type ListSpec, parseListQuery } from "../../src/http/lists.ts";
import type { Principal } from "../../src/http/principal.ts";
import { assignmentList, listAssignments } from "../../src/resources/assignments/assignment-list.ts";
import { auditList, listAudit } from "../../src/resources/audit/audit-list.ts";
import { deviceList, listDevices } from "../../src/resources/devices/device-list.ts";
import { invitationList, listInvitations } from "../../src/resources/invitations/invitation-store.ts";
import { listUsers, userList } from "../../src/resources/users/user-list.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { fillOrganization } from "../support/large-organization.ts";
import { explaining, type PlanNode, rowsRead } from "../support/query-plans.ts";
import { makeOrganization, type TestOrganization } from "../support/world.ts";

const size = 6000;
/** Far more than a page, far less than the organization has. */
const few = size / 4;

interface List {
  spec: ListSpec;
  read(db: Db, principal: Principal, query: never): Promise<unknown>;
  filters: Record<string, string>;
  search: string;
}

const someone = "b6d767d2-f8ed-5d21-a44b-0e5886680cb9";
const lists: Record<string, List> = {
  devices: {
    spec: deviceList,
    read: (db, principal, query) => listDevices(db, principal, query),
    filters: { device_model_slug: "watch-generic", protocol_slug: "watch", is_online: "true", tags: "ward-7" },
    search: "watch 5999",
  },
  users: {
    spec: userList,
    read: (db, { organization }, query) => listUsers(db, organization.id, query, undefined),
    filters: { is_active: "true" },
    search: "person-5999@",
  },
  people: {
    spec: personList,
    read: listPeople,
    filters: { id: someone, has_devices: "true" },
    search: "person-5999@",
  },
  assignments: { spec: assignmentList, read: listAssignments, filters: {}, search: "person-5999@" },
  invitations: {
    spec: invitationList,
    read: (db, { organization }, query) => listInvitations(db, organization.id, query, new Date()),
    filters: { status: "20" },
    search: "guest-5999@",
  },
  audit: {
    spec: auditList,
    read: (db, { organization }, query) => listAudit(db, organization.id, query),
    filters: {
      action: "1",
      actor: someone,
      actor_partner_integration: someone,
      actor_type: "system",
      content_type: "3",
      model_name: "device",
      timestamp_after: "2000-01-01T00:00:00Z",
      timestamp_before: "2100-01-01T00:00:00Z",
    },
    search: "watch 5999",
  },
};

describe("a page of a large organization", () => {
  let api: TestApi;
  let organization: TestOrganization;

  beforeAll(async () => {
    api = await openTestApi();
    organization = await makeOrganization(api);
    const client = new Client({ connectionString: api.url });
    await client.connect();
    await fillOrganization(client, organization.id, size, 0);
    await client.query("vacuum analyze");
    await client.end();
  });
  afterAll(() => api.close());

  async function plansOf({ spec, read }: List, query: Record<string, string>): Promise<PlanNode[]> {
    const plans: PlanNode[] = [];
    const principal = { kind: "partner", organization } as unknown as Principal;
    await read(
      explaining(api.db, (plan) => plans.push(plan)),
      principal,
      parseListQuery(spec, query) as never,
    );
    return plans;
  }

  const queries = Object.entries(lists).flatMap(([name, { spec, filters, search }]) => {
    const orders = spec.ordering.flatMap((field) => [{ ordering: field }, { ordering: `-${field}` }]);
    const filtered = Object.entries(filters).map(([key, value]) => ({ [key]: value }));
    return [...orders, ...filtered, { search }].map(
      (query) => [name, new URLSearchParams(query).toString(), query] as [string, string, Record<string, string>],
    );
  });

  it("has a value here for every filter that lists document", () => {
    for (const { spec, filters } of Object.values(lists)) {
      expect(Object.keys(filters).toSorted()).toEqual(Object.keys(spec.filters).toSorted());
    }
  });

  it.each(queries)("of %s with %s is read from an index", async (name, _, query) => {
    const plans = await plansOf(lists[name] as List, query);
    expect(plans.length).toBeGreaterThan(0);
    for (const plan of plans) expect(rowsRead(plan), JSON.stringify(plan, null, 1)).toBeLessThan(few);
  });
});
