import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { routeTable } from "../../src/app.ts";
import { VoiceService } from "../../src/audio/voice-service.ts";
import type { Route } from "../../src/http/route.ts";
import { allScopes, type Scope } from "../../src/oauth/scopes.ts";
import { openTestApi, type TestAnswer, type TestApi } from "../support/api.ts";
import { testCatalog } from "../support/catalog.ts";
import { makeEcg } from "../support/ecg.ts";
import { makeEvent } from "../support/events.ts";
import { makeDevice, makeMember } from "../support/fixtures.ts";
import { makeOperator } from "../support/operators.ts";
import { describeSchemasThatCompile } from "../support/schemas-compile.ts";
import {
  fetchToken,
  makeIntegration,
  makeOrganization,
  makePerson,
  password,
  type TestIntegration,
  type TestOrganization,
} from "../support/world.ts";

/**
 * Every operation of the route table against every kind of caller. The expectations are those of the contract, written here
 * once more and on their own: a route that is added without a word here fails.
 */
const voice = new VoiceService({ kind: "off" });
const routes = routeTable({
  catalog: testCatalog(),
  voice,
  commandAckTimeoutSeconds: 60,
  commandTtlSeconds: 86_400,
});
const roles = ["VIEWER", "USER", "ADMIN", "OWNER"] as const;
type Role = (typeof roles)[number];

/** The least role of the contract's table of people; null: partner tokens only. */
function minRole({ method, path }: Route): Role | null {
  if (path === "/api/v1/organizations/self/" || path === "/api/v1/partner/outbound-events/") return null;
  const isRead = method === "GET";
  const readByAll =
    /^\/api\/v1\/(protocols|models|assignments|geofences|alert-thresholds|events)\//.test(path) ||
    /^\/api\/v1\/auth\/users\/(:id\/)?$/.test(path) ||
    /^\/api\/v1\/devices\/(:uid\/|:device_uid\/)?((capabilities|config)\/)?$/.test(path) ||
    /^\/api\/v1\/devices\/:device_uid\/(locations|telemetry|ecg|commands|messages)\//.test(path);
  if (isRead && readByAll) return "VIEWER";
  const operated =
    /^\/api\/v1\/events\/:id\/acknowledge\/$/.test(path) ||
    /^\/api\/v1\/devices\/:device_uid\/(commands|messages)\//.test(path);
  return operated ? "USER" : "ADMIN";
}

/** Parameters that name an object of an organization, and how the path shows which. The catalog belongs to nobody. */
function objectKind(route: Route, parameter: string): keyof Objects | null {
  if (parameter === "uid" || parameter === "device_uid") return "device";
  if (parameter === "user_id") return "user";
  if (parameter === "command_uuid") return "command";
  if (parameter === "protocol_slug" || parameter === "model_slug") return null;
  if (route.path.startsWith("/api/v1/auth/users/")) return "user";
  if (route.path.startsWith("/api/v1/assignments/")) return "assignment";
  if (route.path.startsWith("/api/v1/organizations/invitations/")) return "invitation";
  if (route.path.startsWith("/api/v1/audit-log/")) return "audit";
  if (route.path.startsWith("/api/v1/events/")) return "event";
  if (route.path.startsWith("/api/v1/devices/:device_uid/ecg/")) return "ecg";
  if (route.path.startsWith("/api/v1/geofences/")) return "geofence";
  if (route.path.startsWith("/api/v1/alert-thresholds/")) return "threshold";
  if (route.path.startsWith("/api/v1/devices/:device_uid/messages/")) return "message";
  throw new Error(`say in the matrix which object ${parameter} of ${route.path} is`);
}

interface Objects {
  device: string;
  user: string;
  assignment: string;
  invitation: string;
  audit: string;
  event: string;
  ecg: string;
  geofence: string;
  threshold: string;
  message: string;
  command: string;
}

describeSchemasThatCompile(routes);

describe("the matrix of operations and callers", () => {
  let api: TestApi;
  let own: TestOrganization;
  let integration: TestIntegration;
  let objects: Objects;
  let foreignObjects: Objects;
  let expired: string;
  let plain: TestIntegration;
  const people = new Map<Role, string>();
  let operator: string;

  beforeAll(async () => {
    api = await openTestApi();
    own = await makeOrganization(api, { features: ["managed_onboarding"] });
    integration = await makeIntegration(api, own);
    objects = await makeObjects(own, integration);
    const foreign = await makeOrganization(api, { features: ["managed_onboarding"] });
    foreignObjects = await makeObjects(foreign, await makeIntegration(api, foreign));
    plain = await makeIntegration(api, await makeOrganization(api), { messaging: false });
    const stale = await makeIntegration(api, own);
    expired = stale.token;
    await api.db.run`update access_tokens set expires_at = created_at where integration_id = ${stale.id}`;
    for (const role of roles) people.set(role, (await makePerson(api, own, role)).token);
    const { email } = await makeOperator(api, "matrix-ops@example.org");
    const session = await api.call("POST", "/console/api/login/", { body: { email, password } });
    operator = session.body.access_token;
  });
  afterAll(() => api.close());

  async function makeObjects(organization: TestOrganization, { token }: TestIntegration): Promise<Objects> {
    const device = await makeDevice(api, organization);
    const { uid } = device;
    const { id: user } = await makeMember(api, organization);
    const assigned = await api.call("POST", `/api/v1/devices/${uid}/assign/`, { token, body: { user_id: user } });
    const shared = await api.call("POST", `/api/v1/devices/${uid}/share/`, {
      token,
      body: { email: `new-${user}@example.org` },
    });
    const geofence = await api.call("POST", "/api/v1/geofences/", {
      token,
      body: { name: "Home", center: { lat: 41.9, lng: 12.5 }, radius: 150 },
    });
    const threshold = await api.call("POST", "/api/v1/alert-thresholds/", {
      token,
      body: { scope: "Device", device: uid, metric_key: "hr", high: 120 },
    });
    const command = await api.call("POST", `/api/v1/devices/${uid}/commands/`, {
      token,
      body: { command_type: "locate_now" },
    });
    const { id: audit } = (await api.call("GET", "/api/v1/audit-log/?page_size=1", { token })).body.results[0];
    return {
      device: uid,
      user,
      assignment: assigned.body.id,
      invitation: shared.body.invitation.id,
      audit: String(audit),
      event: await makeEvent(api, device),
      ecg: await makeEcg(api, device),
      geofence: geofence.body.id,
      threshold: threshold.body.id,
      message: (await api.call("POST", `/api/v1/devices/${uid}/messages/send-text/`, { token, body: { text: "x" } }))
        .body.id,
      command: command.body.command_uuid,
    };
  }

  const pathOf = (route: Route, from: Objects): string =>
    route.path.replace(/:([a-z_]+)/g, (_, name: string) => {
      const kind = objectKind(route, name);
      if (kind !== null) return from[kind];
      return name === "protocol_slug" ? "iw" : "iw-h10";
    });
  const call = (route: Route, token: string | undefined, from: Objects = objects) =>
    api.call(route.method, pathOf(route, from), { token, ...(route.body ? { body: {} } : {}) });
  const named = routes.map((route) => [`${route.method} ${route.path}`, route] as const);
  const described = named.filter(([, route]) => route.partners !== "never");

  /** The replay endpoint has an error body of its own. */
  const codeOf = ({ body }: TestAnswer): unknown => body?.code ?? body?.error?.code;

  it.each(named)("%s: no token, and an expired one", async (_name, route) => {
    const none = await call(route, undefined);
    expect([none.status, codeOf(none)]).toEqual([401, "not_authenticated"]);
    const stale = await call(route, expired);
    expect([stale.status, codeOf(stale)]).toEqual([401, "invalid_token"]);
  });

  // Replay needs no scope: what a token may not see is left out.
  const scoped = described.filter(([, route]) => route.path !== "/api/v1/partner/outbound-events/");
  it.each(scoped)("%s: a token without its scope", async (_name, route) => {
    const required = route.partners as readonly Scope[];
    expect(required.length).toBeGreaterThan(0);
    const token = await fetchToken(api, integration, allScopes.filter((scope) => !required.includes(scope)).join(" "));
    const answer = await call(route, token);
    expect([answer.status, answer.body.code, answer.body.required_scopes]).toEqual([
      403,
      "insufficient_scope",
      required,
    ]);
  });

  it.each(named.filter(([, route]) => route.partners === "never"))("%s: not for partners", async (_name, route) => {
    const answer = await call(route, integration.token);
    expect([answer.status, answer.body.code]).toEqual([403, "scope_not_available"]);
  });

  it.each(described.filter(([, route]) => route.feature))("%s: the feature is off", async (_name, route) => {
    const answer = await call(route, plain.token);
    expect([answer.status, answer.body.code, answer.body.feature]).toEqual([403, "feature_not_enabled", route.feature]);
  });

  const withObject = described.filter(([, route]) =>
    Object.keys(route.params ?? {}).some((name) => objectKind(route, name)),
  );
  it.each(withObject)("%s: an object of another organization is 404, and stays as it was", async (_name, route) => {
    const answer = await call(route, integration.token, foreignObjects);
    expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
    const owner = people.get("OWNER");
    expect((await call(route, owner, foreignObjects)).status).toBe(404);
  });

  it.each(named)("%s: not for operators of the service", async (_name, route) => {
    const answer = await call(route, operator);
    expect([answer.status, codeOf(answer)]).toEqual([403, "role_not_allowed"]);
  });

  it.each(named)("%s: each role of people", async (_name, route) => {
    const neededRole = minRole(route);
    for (const role of roles) {
      const answer = await call(route, people.get(role), foreignObjects);
      const seen = [role, answer.status, codeOf(answer)];
      if (neededRole === null) expect(seen).toEqual([role, 403, "partner_token_required"]);
      else if (roles.indexOf(role) < roles.indexOf(neededRole)) expect(seen).toEqual([role, 403, "role_not_allowed"]);
      else expect([401, 403]).not.toContain(answer.status);
    }
  });
});
