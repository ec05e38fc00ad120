import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestApi } from "../support/api.ts";
import {
  fetchToken,
  makeIntegration,
  makeOrganization,
  makePerson,
  openPartnerApi,
  type TestIntegration,
  type TestOrganization,
} from "../support/world.ts";

/** Over a real socket: a client library would tidy the address up. */
async function rawCall(
  { app }: TestApi,
  target: string,
  token?: string,
): Promise<{ status: number; body: Record<string, unknown> }> {
  if (!app.server.listening) await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  const authorization = token === undefined ? "" : `Authorization: Bearer ${token}\r\n`;
  socket.write(`GET ${target} HTTP/1.1\r\nHost: vigil.example\r\n${authorization}Connection: close\r\n\r\n`);
  const answer = await text(socket);
  return { status: Number(answer.slice(9, 12)), body: JSON.parse(answer.slice(answer.indexOf("\r\n\r\n"))) };
}

describe("the surface", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let integration: TestIntegration;

  beforeAll(async () => {
    ({ api, organization, integration } = await openPartnerApi());
  });
  afterAll(() => api.close());

  const outside = [
    ["GET", "/api/v1/nothing/"],
    ["GET", "/api/v1/"],
    ["GET", "/api/v1"],
    ["GET", "/api/v1?x=1"],
    ["GET", "/api/v1//protocols/"],
    ["GET", "/api/v1/protocols//"],
    ["POST", "/api/v1/protocols/"],
    ["PUT", "/api/v1/organizations/self/"],
    ["DELETE", "/api/v1/audit-log/1/"],
    ["HEAD", "/api/v1/protocols/"],
    ["OPTIONS", "/api/v1/protocols/"],
    ["GET", "/api/v1/%zz/"],
    ["GET", "/api/v1/protocols/%E0%A4%A/"],
    ["PROPFIND", "/api/v1/protocols/"],
  ] as const;

  it.each(outside)("answers %s %s with scope_not_available, and 401 without a token", async (method, path) => {
    const known = await api.call(method, path, { token: integration.token });
    expect(known.status).toBe(403);
    if (method !== "HEAD") expect(known.body.code).toBe("scope_not_available");
    const unknown = await api.call(method, path);
    expect(unknown.status).toBe(401);
  });

  it("leads from the root to the console", async () => {
    const answer = await api.call("GET", "/");
    expect([answer.status, answer.headers.location]).toEqual([302, "/console/"]);
  });

  it("shows a browser the page of the console where a page of it does not exist, and a program the error", async () => {
    const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
    const open = (path: string, method = "GET") =>
      api.app.inject({ method: method as "GET", url: path, headers: { accept } });
    for (const path of ["/console/nothing", "/console/devices/1/nothing/", "/console/Alarms"]) {
      const answer = await open(path);
      expect([path, answer.headers["content-type"]]).toEqual([path, "text/html; charset=utf-8"]);
      expect([404, 503]).toContain(answer.statusCode);
      expect(answer.headers["content-security-policy"]).toContain("script-src 'self'");
    }
    const others = ["/console/api/nothing/", "/console/api", "/console/assets/nothing.js", "/nothing", "/consoles"];
    for (const answer of [...(await Promise.all(others.map((path) => open(path)))), await open("/console/x", "POST")]) {
      expect([answer.statusCode, answer.json().code]).toEqual([404, "not_found"]);
    }
  });

  it.each(["/nothing", "/api", "/api/v2/devices/", "/apiv1", "/api/v1x/", "//api/v1/protocols/", "/console/nothing/"])(
    "answers 404 not_found outside the API at %s, with or without a token",
    async (path) => {
      for (const token of [undefined, integration.token]) {
        const answer = await api.call("GET", path, { token });
        expect(answer.status).toBe(404);
        expect(answer.body).toEqual({ code: "not_found", detail: expect.any(String), request_id: expect.any(String) });
      }
    },
  );

  it.each(["/%61pi/v1/protocols/", "/api/%761/protocols/", "http://vigil.example/api/v1/protocols/"])(
    "asks for a token however the address is written: %s",
    async (path) => {
      expect((await rawCall(api, path)).status).toBe(401);
      expect((await rawCall(api, path, integration.token)).status).toBe(200);
      expect((await rawCall(api, path.replace("protocols", "nothing"), integration.token)).status).toBe(403);
    },
  );

  it.each(["/api/v1/partner/outbound%2Devents", "http://vigil.example/api/v1/partner/outbound-events/"])(
    "gives errors of replay their own shape however the address is written: %s",
    async (path) => {
      for (const [target, status] of [[path, 401] as const, [`${path}?limit=0`, 400] as const]) {
        const answer = await rawCall(api, target, status === 401 ? undefined : integration.token);
        expect([answer.status, Object.keys(answer.body)]).toEqual([status, ["error"]]);
      }
    },
  );

  it("answers an endless id as an object that does not exist", async () => {
    const answer = await api.call("GET", `/api/v1/devices/${"4".repeat(3000)}/`, { token: integration.token });
    expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
  });

  it("takes a path with and without its trailing slash, without a redirect", async () => {
    for (const path of [
      "/api/v1/protocols/",
      "/api/v1/protocols",
      "/api/v1/protocols?page_size=1",
      "/api/v1/protocols/iw",
    ]) {
      expect((await api.call("GET", path, { token: integration.token })).status).toBe(200);
    }
  });

  it.each([
    "/api/v1/audit-log/abc/",
    "/api/v1/audit-log/-1/",
    "/api/v1/audit-log/99999999999999999999/",
    "/api/v1/audit-log/1.5/",
  ])("answers a malformed id at %s as an object that does not exist", async (path) => {
    const answer = await api.call("GET", path, { token: integration.token });
    expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
  });

  describe("request ids", () => {
    it("keeps a well-formed one, in the header and in the error body", async () => {
      const answer = await api.call("GET", "/api/v1/nothing/", {
        token: integration.token,
        headers: { "x-request-id": "my-Id_1.2" },
      });
      expect(answer.headers["x-request-id"]).toBe("my-Id_1.2");
      expect(answer.body.request_id).toBe("my-Id_1.2");
    });

    it.each(["", "has blank", "a".repeat(129), "ünï", "semi;colon"])("replaces %j by a UUIDv7", async (given) => {
      const answer = await api.call("GET", "/nothing", { headers: { "x-request-id": given } });
      expect(answer.headers["x-request-id"]).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    });

    it("stands on every answer, of every path", async () => {
      for (const path of [
        "/o/token/",
        "/api/schema/",
        "/api/schema/swagger/",
        "/.well-known/oauth-authorization-server",
        "/x",
        "/api/v1/%zz",
      ]) {
        expect((await api.call("GET", path)).headers["x-request-id"], path).toBeTruthy();
      }
    });
  });

  it("sends security headers and never a CORS header", async () => {
    const answer = await api.call("GET", "/api/v1/protocols/", {
      token: integration.token,
      headers: { origin: "https://evil.example" },
    });
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
    expect(answer.headers["content-security-policy"]).toContain("default-src 'none'");
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  describe("401 and 403", () => {
    it("asks for a token", async () => {
      const answer = await api.call("GET", "/api/v1/protocols/");
      expect(answer.status).toBe(401);
      expect(answer.body.code).toBe("not_authenticated");
      expect(answer.headers["www-authenticate"]).toBe('Bearer realm="api"');
    });

    it.each([
      "Bearer pt_wrong",
      "Bearer",
      "Bearer a b",
      "Bearer eyJhbGciOiJub25lIn0.e30.",
      `Bearer ${"x".repeat(5000)}`,
      "bearer pt_\u00e9",
    ])("refuses the bad token %#", async (authorization) => {
      const answer = await api.call("GET", "/api/v1/protocols/", { headers: { authorization } });
      expect([answer.status, answer.body.code]).toEqual([401, "invalid_token"]);
      expect(answer.headers["www-authenticate"]).toBe(
        'Bearer realm="api", error="invalid_token", error_description="The access token is invalid or has expired."',
      );
    });

    it("counts another scheme as no token", async () => {
      const answer = await api.call("GET", "/api/v1/protocols/", { headers: { authorization: "Basic abc" } });
      expect([answer.status, answer.body.code]).toEqual([401, "not_authenticated"]);
    });

    it("names the scope that is missing", async () => {
      const token = await fetchToken(api, integration, "org:read");
      const answer = await api.call("GET", "/api/v1/protocols/", { token });
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({ code: "insufficient_scope", required_scopes: ["catalog:read"] });
      expect(answer.headers["www-authenticate"]).toBe(
        'Bearer realm="api", error="insufficient_scope", scope="catalog:read"',
      );
    });

    it.each(["VIEWER", "USER"] as const)("lets a %s read the catalog and not the audit log", async (role) => {
      const person = await makePerson(api, organization, role);
      expect((await api.call("GET", "/api/v1/protocols/", { token: person.token })).status).toBe(200);
      const answer = await api.call("GET", "/api/v1/audit-log/", { token: person.token });
      expect([answer.status, answer.body.code]).toEqual([403, "role_not_allowed"]);
    });

    it.each(["ADMIN", "OWNER"] as const)("lets an %s read the audit log", async (role) => {
      const person = await makePerson(api, organization, role);
      expect((await api.call("GET", "/api/v1/audit-log/", { token: person.token })).status).toBe(200);
    });
  });

  it("checks the rate limit before the surface and after the token", async () => {
    const narrow = await makeIntegration(api, await makeOrganization(api, { perMinute: 1 }));
    expect((await api.call("GET", "/api/v1/nothing/", { token: narrow.token })).status).toBe(403);
    expect((await api.call("GET", "/api/v1/nothing/", { token: narrow.token })).status).toBe(429);
    expect((await api.call("GET", "/api/v1/nothing/")).status).toBe(401);
  });
});
