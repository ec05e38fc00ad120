import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ManualClock, makeManualClock } from "../../src/lib/clock.ts";
import { allScopes } from "../../src/oauth/scopes.ts";
import { setIntegrationStatus, updateIntegration } from "../../src/resources/organizations/integration-store.ts";
import { rotateClientSecret } from "../../src/resources/organizations/secret-rotation.ts";
import { baseUrl, cliActor, type TestApi } from "../support/api.ts";
import { testSecrets } from "../support/secrets.ts";
import {
  basic,
  fetchToken,
  makeIntegration,
  openPartnerApi,
  type TestIntegration,
  type TestOrganization,
} from "../support/world.ts";

const form = { "content-type": "application/x-www-form-urlencoded" };

describe("OAuth", () => {
  let clock: ManualClock;
  let api: TestApi;
  let organization: TestOrganization;
  let integration: TestIntegration;

  beforeAll(async () => {
    clock = makeManualClock(new Date());
    ({ api, organization, integration } = await openPartnerApi({ clock }));
  });
  afterAll(() => api.close());

  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    api.call("POST", path, { body: new URLSearchParams(fields).toString(), headers: { ...form, ...headers } });
  const credentials = () => ({ client_id: integration.clientId, client_secret: integration.clientSecret });
  const grant = { grant_type: "client_credentials" };
  const isAlive = async (token: string) => (await api.call("GET", "/api/v1/organizations/self/", { token })).status;

  describe("token endpoint", () => {
    it("gives a token for Basic credentials", async () => {
      const answer = await post(
        "/o/token/",
        { ...grant, scope: "devices:read locations:read" },
        { authorization: basic(integration.clientId, integration.clientSecret) },
      );
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        access_token: expect.stringMatching(/^pt_[A-Za-z0-9_-]{43}$/),
        token_type: "Bearer",
        expires_in: 3600,
        scope: "devices:read locations:read",
      });
      expect(answer.headers["cache-control"]).toBe("no-store");
      expect(answer.headers.pragma).toBe("no-cache");
    });

    it("takes percent-encoded Basic credentials too", async () => {
      const encode = (text: string) => text.replaceAll("-", "%2D").replaceAll("_", "%5F");
      const answer = await post("/o/token/", grant, {
        authorization: basic(encode(integration.clientId), encode(integration.clientSecret)),
      });
      expect(answer.status).toBe(200);
    });

    it("takes form fields, a JSON body, and the path without its slash", async () => {
      expect((await post("/o/token/", { ...grant, ...credentials() })).status).toBe(200);
      expect((await post("/o/token", { ...grant, ...credentials() })).status).toBe(200);
      expect(
        (await api.call("POST", "/o/token/", { body: { ...grant, ...credentials(), scope: "org:read" } })).body.scope,
      ).toBe("org:read");
    });

    it.each([{}, { scope: "" }, { scope: "  " }])("gives all granted scopes for %j", async (scope) => {
      const answer = await post("/o/token/", { ...grant, ...credentials(), ...scope });
      expect(answer.body.scope).toBe(allScopes.join(" "));
    });

    it.each([
      [{ grant_type: "password" }, 400, "unsupported_grant_type"],
      [{}, 400, "invalid_request"],
      [{ ...grant, scope: "nothing:read" }, 400, "invalid_scope"],
    ])("answers %j with %i %s", async (fields, status, error) => {
      const answer = await post("/o/token/", { ...fields, ...credentials() });
      expect([answer.status, answer.body.error]).toEqual([status, error]);
      expect(Object.keys(answer.body).sort()).toEqual(["error", "error_description"]);
    });

    it("refuses a scope that is not granted", async () => {
      const small = await makeIntegration(api, organization, { scopes: ["org:read"] });
      const answer = await post("/o/token/", {
        ...grant,
        client_id: small.clientId,
        client_secret: small.clientSecret,
        scope: "org:read users:read",
      });
      expect([answer.status, answer.body.error]).toEqual([400, "invalid_scope"]);
    });

    it.each([
      ["malformed JSON", "{", "application/json"],
      ["a JSON array", "[]", "application/json"],
      ["a number as parameter", '{"grant_type":1}', "application/json"],
      ["another media type", "grant_type=client_credentials", "text/plain"],
      ["a repeated parameter", "grant_type=a&grant_type=b", "application/x-www-form-urlencoded"],
      ["two megabytes", `x=${"a".repeat(2_000_000)}`, "application/x-www-form-urlencoded"],
    ])("answers %s with invalid_request", async (_name, body, type) => {
      const answer = await api.call("POST", "/o/token/", {
        body,
        headers: { "content-type": type, authorization: basic(integration.clientId, integration.clientSecret) },
      });
      expect([answer.status, answer.body.error]).toEqual([400, "invalid_request"]);
    });

    it("answers wrong clients with 401, and the Basic challenge only to Basic", async () => {
      const other = await makeIntegration(api, organization);
      const wrong = await post("/o/token/", grant, { authorization: basic(other.clientId, "vs_wrong") });
      expect([wrong.status, wrong.body.error]).toEqual([401, "invalid_client"]);
      expect(wrong.headers["www-authenticate"]).toBe('Basic realm="api"');
      const inForm = await post("/o/token/", { ...grant, client_id: other.clientId, client_secret: "nope" });
      expect([inForm.status, inForm.body.error]).toEqual([401, "invalid_client"]);
      expect(inForm.headers["www-authenticate"]).toBeUndefined();
      expect((await post("/o/token/", grant)).body.error).toBe("invalid_client");
      expect((await post("/o/token/", { ...grant, client_id: "a\0b", client_secret: "c\0d" })).status).toBe(401);
      const odd = await post("/o/token/", grant, { authorization: "Basic %%%" });
      expect(odd.status).toBe(401);
    });

    it.each(["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])(
      "answers %s with 405",
      async (method) => {
        for (const path of ["/o/token/", "/o/revoke_token/", "/o/introspect/"]) {
          const answer = await api.call(method, path);
          expect([answer.status, answer.headers.allow, answer.body.error]).toEqual([405, "POST", "invalid_request"]);
        }
      },
    );

    it("answers an unknown path under /o/ in the shape of RFC 6749", async () => {
      const answer = await api.call("GET", "/o/nothing/");
      expect(answer.status).toBe(404);
      expect(Object.keys(answer.body).sort()).toEqual(["error", "error_description"]);
    });
  });

  it("blocks a client at an address after ten failures in a minute, also with the right secret", async () => {
    const client = await makeIntegration(api, organization);
    const call = (secret: string, path = "/o/token/") =>
      post(path, { ...grant, token: "x", client_id: client.clientId, client_secret: secret });
    const parallel = await Promise.all(
      Array.from({ length: 30 }, (_, index) => call("wrong", index % 2 === 0 ? "/o/token/" : "/o/introspect/")),
    );
    expect(parallel.filter(({ status }) => status === 401)).toHaveLength(10);
    const refused = parallel.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(20);
    expect(refused[0]?.body.error).toBe("temporarily_unavailable");
    expect(Number(refused[0]?.headers["retry-after"])).toBeGreaterThan(0);
    expect((await call(client.clientSecret)).status).toBe(429);
    expect((await post("/o/token/", { ...grant, ...credentials() })).status).toBe(200);
    clock.advanceMs(60_000);
    expect((await call(client.clientSecret)).status).toBe(200);
  });

  describe("tokens", () => {
    it("live exactly as long as they say", async () => {
      const token = await fetchToken(api, integration);
      clock.advanceMs(3_599_999);
      expect(await isAlive(token)).toBe(200);
      clock.advanceMs(1);
      expect(await isAlive(token)).toBe(401);
    });

    it("end at once when the integration is disabled, and do not live again", async () => {
      const client = await makeIntegration(api, organization);
      expect(await isAlive(client.token)).toBe(200);
      const set = (status: "active" | "disabled" | "deleted") =>
        api.db.transaction((tx) =>
          setIntegrationStatus(tx, organization.id, client.id, status, cliActor(organization.id), clock.now()),
        );
      await set("disabled");
      await expect.poll(() => isAlive(client.token)).toBe(401);
      expect(
        (await post("/o/token/", { ...grant, client_id: client.clientId, client_secret: client.clientSecret })).status,
      ).toBe(401);
      await set("active");
      expect(await isAlive(client.token)).toBe(401);
      expect(await isAlive(await fetchToken(api, client))).toBe(200);
      await set("deleted");
      expect(
        (await post("/o/token/", { ...grant, client_id: client.clientId, client_secret: client.clientSecret })).status,
      ).toBe(401);
    });

    it("lose a scope at once when it is withdrawn, and get it back", async () => {
      const client = await makeIntegration(api, organization);
      expect(await isAlive(client.token)).toBe(200);
      const grantScopes = (scopes: typeof allScopes) =>
        api.db.transaction((tx) =>
          updateIntegration(
            tx,
            organization.id,
            client.id,
            { scopes },
            cliActor(organization.id),
            clock.now(),
            testSecrets,
          ),
        );
      await grantScopes(["catalog:read"]);
      await expect.poll(() => isAlive(client.token)).toBe(403);
      await grantScopes([...allScopes]);
      await expect.poll(() => isAlive(client.token)).toBe(200);
    });

    it("survive a rotation of the secret, whose old form works for 24 hours", async () => {
      const client = await makeIntegration(api, organization);
      const rotated = await api.db.transaction((tx) =>
        rotateClientSecret(tx, organization.id, client.id, cliActor(organization.id), clock.now()),
      );
      const secrets = [client.clientSecret, (rotated as { secret: string }).secret];
      const statuses = async () => {
        const answers = await Promise.all(
          secrets.map((secret) => post("/o/token/", { ...grant, client_id: client.clientId, client_secret: secret })),
        );
        return answers.map(({ status }) => status);
      };
      expect(await isAlive(client.token)).toBe(200);
      expect(await statuses()).toEqual([200, 200]);
      clock.advanceMs(24 * 3600_000);
      expect(await statuses()).toEqual([401, 200]);
    });

    it("are stored as hashes only", async () => {
      const token = await fetchToken(api, integration);
      const rows = await api.db.many<{ row: string }>`
        select row_to_json(t)::text as row from access_tokens t union all select row_to_json(s)::text from integration_secrets s`;
      for (const { row } of rows) {
        expect(row).not.toContain(token);
        expect(row).not.toContain(integration.clientSecret);
      }
    });
  });

  describe("revocation and introspection", () => {
    it("ends a token, and answers 200 with an empty body whatever the token is", async () => {
      const token = await fetchToken(api, integration);
      expect(await isAlive(token)).toBe(200);
      for (const given of [token, token, "nonsense", "a\0b"]) {
        const answer = await post("/o/revoke_token/", { ...credentials(), token: given });
        expect([answer.status, answer.text]).toEqual([200, ""]);
      }
      await expect.poll(() => isAlive(token)).toBe(401);
    });

    it("leaves tokens of other clients alone and does not tell of them", async () => {
      const other = await makeIntegration(api, organization);
      await post("/o/revoke_token/", { ...credentials(), token: other.token });
      expect(await isAlive(other.token)).toBe(200);
      expect((await post("/o/introspect/", { ...credentials(), token: other.token })).body).toEqual({ active: false });
    });

    it("tells of an own token", async () => {
      const token = await fetchToken(api, integration, "org:read catalog:read");
      const answer = await post("/o/introspect/", { ...credentials(), token });
      expect(answer.body).toEqual({
        active: true,
        scope: "org:read catalog:read",
        exp: Math.floor((clock.nowMs() + 3_600_000) / 1000),
        client_id: integration.clientId,
        token_type: "Bearer",
      });
    });

    it("needs the client and the token", async () => {
      for (const path of ["/o/revoke_token/", "/o/introspect/"]) {
        expect((await post(path, { token: "x" })).status).toBe(401);
        expect((await post(path, credentials())).body.error).toBe("invalid_request");
      }
    });
  });

  it("publishes its metadata", async () => {
    const { body } = await api.call("GET", "/.well-known/oauth-authorization-server");
    expect(body).toMatchObject({
      issuer: baseUrl,
      token_endpoint: `${baseUrl}/o/token/`,
      revocation_endpoint: `${baseUrl}/o/revoke_token/`,
      introspection_endpoint: `${baseUrl}/o/introspect/`,
      grant_types_supported: ["client_credentials"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
      scopes_supported: allScopes,
    });
  });
});
