import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Tx } from "../../src/db/database.ts";
import { personPrincipal } from "../../src/http/principal.ts";
import type { OrganizationIdentity } from "../../src/oauth/organization-identity.ts";
import { findPerson } from "../../src/oauth/person-store.ts";
import { acceptInvitation, findTarget } from "../../src/resources/invitations/accepting.ts";
import { acceptAsPerson, findPersonTarget } from "../../src/resources/invitations/accepting-person.ts";
import { inviteMember } from "../../src/resources/invitations/inviting.ts";
import { shareDevice } from "../../src/resources/invitations/sharing.ts";
import { cliActor, openTestApi, type TestApi } from "../support/api.ts";
import { makeDevice, makeMember, readMail, type TestDevice } from "../support/fixtures.ts";
import { makeOrganization, makePerson, type TestOrganization } from "../support/world.ts";

class Crash extends Error {}

/** A transaction whose process dies at the n-th statement: with it goes everything since `begin`. */
function dyingAt(tx: Tx, last: number): Tx {
  let count = 0;
  const step = (): void => {
    if (++count >= last) throw new Crash();
  };
  return new Proxy(tx, {
    get(target, name: keyof Tx) {
      const method = target[name] as (...args: unknown[]) => unknown;
      if (!["many", "one", "maybeOne", "run"].includes(name)) return method;
      return (...args: unknown[]) => {
        step();
        return method.apply(target, args);
      };
    },
  });
}

describe("a crash between any two statements", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let identity: OrganizationIdentity;
  let device: TestDevice;

  beforeAll(async () => {
    api = await openTestApi();
    organization = await makeOrganization(api);
    const person = await makePerson(api, organization, "OWNER");
    const found = await findPerson(api.db, organization.id, person.id);
    if (!found) throw new Error("no person");
    identity = personPrincipal(found).organization;
    device = await makeDevice(api, organization);
  });
  afterAll(() => api.close());

  const actor = () => cliActor(organization.id);
  const linkBase = "https://vigil.example/console/accept";

  const tables = async (): Promise<string> => {
    const rows = await api.db.many`
      select 'users' as t, count(*) as n, max(updated_at)::text as at from users
      union all select 'memberships', count(*), max(updated_at)::text from memberships
      union all select 'assignments', count(*) filter (where is_active), max(assigned_at)::text from assignments
      union all select 'invitations', sum(status), max(updated_at)::text from invitations
      union all select 'mails', count(*), max(created_at)::text from mails
      union all select 'audit', count(*), max(timestamp)::text from audit_log`;
    return JSON.stringify(rows);
  };

  /** Runs the work with a crash at statement 1, 2, 3 … until it gets through; each crash must leave no trace. */
  async function survive(work: (tx: Tx) => Promise<unknown>): Promise<number> {
    const before = await tables();
    for (let n = 1; n < 100; n++) {
      try {
        await api.db.transaction((tx) => work(dyingAt(tx, n)));
        expect(await tables()).not.toBe(before);
        return n;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        expect(await tables()).toBe(before);
      }
    }
    throw new Error("never got through");
  }

  const share = (email: string) => (tx: Tx) =>
    shareDevice(
      tx,
      identity,
      { device, email, firstName: "", lastName: "", linkBase, isPartnerLink: false },
      actor(),
      api.clock.now(),
    );

  it("leaves all or nothing of a share with a stranger", async () => {
    expect(await survive(share("stranger@example.org"))).toBeGreaterThan(6);
  });

  it("leaves all or nothing of a second share", async () => {
    expect(await survive(share("stranger@example.org"))).toBeGreaterThan(4);
  });

  it("leaves all or nothing of a share with a member", async () => {
    const member = await makeMember(api, organization);
    expect(await survive(share(member.email))).toBeGreaterThan(4);
  });

  it("leaves all or nothing of an accept", async () => {
    const { token } = await readMail(api, "stranger@example.org");
    const target = await findTarget(api.db, token);
    if (!target) throw new Error("no invitation");
    const profile = { firstName: "A", lastName: "B", phoneNumber: "" };
    const steps = await survive((tx) => acceptInvitation(tx, target, profile, actor(), api.clock.now()));
    expect(steps).toBeGreaterThan(8);
  });

  it("leaves all or nothing of an accept in the browser", async () => {
    await api.db.transaction(share("browser@example.org"));
    const { token } = await readMail(api, "browser@example.org");
    const target = await findPersonTarget(api.db, token, api.clock.now());
    if (!target) throw new Error("no invitation");
    const input = { firstName: "A", lastName: "B", newPasswordHash: "hash" };
    const origin = { correlationId: null, remoteAddr: null };
    const steps = await survive((tx) => acceptAsPerson(tx, target, input, origin, api.clock.now()));
    expect(steps).toBeGreaterThan(10);
  });

  it("leaves all or nothing of the invitation of a member, also when it replaces one", async () => {
    const invite = (tx: Tx) =>
      inviteMember(tx, identity, { email: "new@example.org", role: "USER", linkBase }, actor(), api.clock.now());
    expect(await survive(invite)).toBeGreaterThan(6);
    expect(await survive(invite)).toBeGreaterThan(8);
  });
});
