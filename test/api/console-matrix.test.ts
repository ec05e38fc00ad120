import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { consoleRoutes } from "../../src/console/console-routes.ts";
import type { Route } from "../../src/http/route.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { callsWith, signIn } from "../support/browser-session.ts";
import { auditOf, makeDevice, nobodysId, type TestDevice } from "../support/fixtures.ts";
import { inviteByMail } from "../support/invitations.ts";
import { makeOperator } from "../support/operators.ts";
import { describeSchemasThatCompile } from "../support/schemas-compile.ts";
import {
  makeIntegration,
  makeOrganization,
  makePerson,
  type TestIntegration,
  type TestOrganization,
} from "../support/world.ts";

/**
 * Every route of the console against every kind of caller, with the rules of the contract written once more: what a person does
 * with the own account is for all, administration for ADMIN and OWNER, the service for operators, who see nothing of an
 * organization. A route that is added without a word here fails.
 */
const routes = consoleRoutes({ webhooks: { timeoutMs: 1, allowCidrs: [] }, operations: {} } as unknown as Parameters<
  typeof consoleRoutes
>[0]);
const roles = ["VIEWER", "USER", "ADMIN", "OWNER"] as const;
type Role = (typeof roles)[number];
type Need = Role | "operator";

const ownAccount =
  /^\/console\/api\/(me|preferences|session|sessions|stream|password|second-factor)\/(organization\/|confirm\/|disable\/|recovery-codes\/|:id\/)?$/;
const administration =
  /^\/console\/api\/(integrations|unknown-devices|deleted-devices|devices\/(import|export|bulk|:uid)|invitations|organization|audit-log\/export)\//;
/** Shows each what the role lets one see. */
const seenByAll = /^\/console\/api\/(devices|fleet|people|acknowledgements)\/$/;
const operation = /^\/console\/api\/operator\//;
/** Of the own account, what needs an organization. */
const membersOnly = /^\/console\/api\/(stream|session\/organization)\/$/;
/** Members ask for one id, operators see all. */
const forBoth = /^\/console\/api\/unknown-devices\/$/;

function minRole({ path }: Route): Need {
  if (operation.test(path)) return "operator";
  if (ownAccount.test(path) || seenByAll.test(path)) return "VIEWER";
  if (administration.test(path)) return "ADMIN";
  throw new Error(`say in the matrix who may call ${path}`);
}

/** Whatever else the path names does not exist either; what is no id of an object is no IMEI of a device. */
const addressOf = (path: string, id: string): string => path.replace(/:(id|uid)\b/, id).replace(/:\w+/g, nobodysId);

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;

describeSchemasThatCompile(routes);

describe("the matrix of the console", () => {
  let api: TestApi;
  let own: TestOrganization;
  let foreign: TestIntegration;
  let foreignDevice: TestDevice;
  let foreignInvitationId: string;
  const cookies = new Map<Need, string>();

  beforeAll(async () => {
    api = await openTestApi({ isPrivate: true });
    own = await makeOrganization(api, { features: ["managed_onboarding"] });
    const other = await makeOrganization(api, { features: ["managed_onboarding"] });
    foreign = await makeIntegration(api, other);
    foreignDevice = await makeDevice(api, other);
    foreignInvitationId = (await inviteByMail(api, foreign.token, foreignDevice.uid, { email: "guest@example.org" }))
      .id;
    for (const role of roles) cookies.set(role, (await signIn(api, (await makePerson(api, own, role)).email)).cookie);
    await makeOperator(api, "ops@example.org");
    cookies.set("operator", (await signIn(api, "ops@example.org")).cookie);
  });
  afterAll(() => api.close());

  const call = ({ method, path }: Route, cookie: string, id: string) => {
    const address = addressOf(path, id);
    const calls = callsWith(api, cookie);
    return method === "GET" ? calls.get(address) : calls.send(method, address);
  };

  it.each(routes.map((one) => [nameOf(one), one] as const))("%s is for people with a session", async (_, one) => {
    const path = addressOf(one.path, nobodysId);
    expect(await api.call(one.method, path)).toMatchObject({ status: 401, body: { code: "not_authenticated" } });
    expect(await api.call(one.method, path, { token: foreign.token })).toMatchObject({
      status: 401,
      body: { code: "invalid_token" },
    });
    const bad = await api.call(one.method, path, { headers: { cookie: `vigil_session=${"x".repeat(43)}` } });
    expect([bad.status, bad.body.code]).toEqual([401, "invalid_token"]);
  });

  const administered = routes.filter((one) => minRole(one) === "ADMIN");

  it.each(administered.map((one) => [nameOf(one), one] as const))("%s is for ADMIN and OWNER", async (_, one) => {
    for (const role of roles) {
      const answer = await call(one, cookies.get(role) ?? "", nobodysId);
      const isRefused = answer.status === 403 && answer.body.code === "role_not_allowed";
      expect([role, isRefused]).toEqual([role, role === "VIEWER" || role === "USER"]);
    }
  });

  const refuses = async (one: Route, caller: Need): Promise<boolean> => {
    const answer = await call(one, cookies.get(caller) ?? "", nobodysId);
    expect(answer.status, answer.text).toBeLessThan(500);
    return answer.status === 403 && answer.body.code === "role_not_allowed";
  };
  const operated = routes.filter((one) => minRole(one) === "operator");

  it.each(operated.map((one) => [nameOf(one), one] as const))("%s is for operators alone", async (_, one) => {
    for (const role of roles) expect([role, await refuses(one, role)]).toEqual([role, true]);
    expect(await refuses(one, "operator")).toBe(false);
  });

  // Signing out ends the session that the others need.
  const others = routes.filter((one) => !operated.includes(one) && one.operationId !== "console_session_end");

  it.each(others.map((one) => [nameOf(one), one] as const))("%s knows operators or refuses them", async (_, one) => {
    const isOwn = ownAccount.test(one.path) && !membersOnly.test(one.path);
    expect(await refuses(one, "operator")).toBe(!isOwn && !forBoth.test(one.path));
  });

  it("changes nothing of the service without the header of the console", async () => {
    const cookie = cookies.get("operator") ?? "";
    for (const { method, path } of operated.filter((one) => one.method !== "GET")) {
      const answer = await api.call(method, addressOf(path, nobodysId), { headers: { cookie } });
      expect([path, answer.body.code]).toEqual([path, "csrf_failed"]);
    }
  });

  const foreignIdFor = (path: string): string => {
    if (path.includes(":uid")) return foreignDevice.uid;
    return path.startsWith("/console/api/invitations/") ? foreignInvitationId : foreign.id;
  };
  const named = administered.filter(({ path }) => /:(id|uid)/.test(path));

  it.each(named.map((one) => [nameOf(one), one] as const))(
    "%s finds nothing of another organization",
    async (_, one) => {
      const before = await auditOf(api, foreign.id);
      for (const id of [foreignIdFor(one.path), nobodysId, "no-id"]) {
        for (const role of ["ADMIN", "OWNER"] as const) {
          const answer = await call(one, cookies.get(role) ?? "", id);
          expect([role, answer.status, answer.body.code]).toEqual([role, 404, "not_found"]);
        }
      }
      expect(await auditOf(api, foreign.id)).toEqual(before);
      expect((await api.call("GET", "/api/v1/organizations/self/", { token: foreign.token })).status).toBe(200);
    },
  );

  it("lists nothing of another organization", async () => {
    const admin = callsWith(api, cookies.get("ADMIN") ?? "");
    for (const list of ["integrations", "devices", "deleted-devices"]) {
      expect((await admin.get(`/console/api/${list}/`)).body).toMatchObject({ count: 0, results: [] });
    }
    expect((await admin.get("/console/api/devices/export/")).text).not.toContain(foreignDevice.uid);
    const bulk = await admin.send("POST", "/console/api/devices/bulk/", {
      action: "delete",
      uids: [foreignDevice.uid],
    });
    expect(bulk.body.results).toMatchObject([{ uid: foreignDevice.uid, ok: false, code: "not_found" }]);
  });

  it("changes nothing without the header of the console", async () => {
    const cookie = cookies.get("OWNER") ?? "";
    for (const { method, path } of administered.filter((one) => one.method !== "GET")) {
      const answer = await api.call(method, addressOf(path, nobodysId), { headers: { cookie } });
      expect([path, answer.body.code]).toEqual([path, "csrf_failed"]);
    }
  });
});
