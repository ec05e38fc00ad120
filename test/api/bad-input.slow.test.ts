import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestApi, type TestApi } from "../support/api.ts";
import { makeIntegration, makeOrganization, type TestIntegration } from "../support/world.ts";

interface Parameter {
  name: string;
  in: string;
}
interface Operation {
  method: string;
  path: string;
  parameters: Parameter[];
  hasBody: boolean;
}

/** Strings that have broken servers: SQL, headers, encodings, numbers at the edge. */
const nasty = [
  "'",
  "' or 1=1 --",
  "'; drop table devices; --",
  "\0",
  "a\0b",
  "\r\nSet-Cookie: x=1",
  "%",
  "%25%00",
  "../../../etc/passwd",
  "\ud800",
  "🦄".repeat(100),
  "null",
  "undefined",
  "NaN",
  "1e309",
  "-0",
  "9".repeat(400),
  "2147483648",
  "-2147483649",
  "9223372036854775808",
  "2026-13-45T99:99:99Z",
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999Z",
  "+275760-09-13T00:00:00.000Z",
  "{}",
  "[]",
  "true",
  " ",
  "\u202e",
  "__proto__",
  "constructor",
];

describe("bad input", () => {
  let api: TestApi;
  let integration: TestIntegration;
  let operations: Operation[];

  beforeAll(async () => {
    api = await openTestApi();
    integration = await makeIntegration(
      api,
      await makeOrganization(api, { features: ["managed_onboarding", "geofence_scoping"] }),
    );
    const { body } = await api.call("GET", "/api/schema/?format=json");
    operations = Object.entries(body.paths).flatMap(([path, item]) =>
      Object.entries(item as Record<string, { parameters?: Parameter[]; requestBody?: unknown }>).map(
        ([method, operation]) => ({
          method: method.toUpperCase(),
          path,
          parameters: operation.parameters ?? [],
          hasBody: operation.requestBody !== undefined,
        }),
      ),
    );
  });
  afterAll(() => api.close());

  const filled = (path: string, value: string) => path.replace(/\{[a-z_]+\}/g, encodeURIComponentLoosely(value));

  async function expectClientError(method: string, path: string, body?: unknown, headers?: Record<string, string>) {
    const answer = await api.call(method, path, { token: integration.token, body, ...(headers ? { headers } : {}) });
    expect(answer.status, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`).toBeLessThan(500);
    return answer;
  }

  it("in a query parameter never makes a server error", async () => {
    for (const { method, path, parameters } of operations.filter((operation) => operation.method === "GET")) {
      for (const { name } of parameters.filter((parameter) => parameter.in === "query")) {
        const paths = nasty.map((value) => `${filled(path, "1")}?${name}=${encodeURIComponentLoosely(value)}`);
        await Promise.all(paths.map((one) => expectClientError(method, one)));
      }
    }
  });

  it("in a path never makes a server error", async () => {
    for (const { method, path } of operations.filter((operation) => operation.path.includes("{"))) {
      for (const value of nasty)
        await expectClientError(method, filled(path, value), method === "GET" ? undefined : {});
    }
  });

  it("in a header never makes a server error, nor a new header", async () => {
    for (const value of ["' or 1=1 --", "a".repeat(7000), "%0d%0aSet-Cookie: x=1", "\u00e9"]) {
      for (const name of ["x-request-id", "idempotency-key", "accept", "authorization", "content-type"]) {
        const answer = await api.call("GET", "/api/v1/protocols/", {
          token: integration.token,
          headers: { [name]: value },
        });
        expect(answer.status).toBeLessThan(500);
        expect(answer.headers["set-cookie"]).toBeUndefined();
      }
    }
  });

  it("as a body never makes a server error", async () => {
    const bodies: unknown[] = [
      null,
      [],
      "",
      1,
      true,
      "text",
      {},
      { a: null },
      ...nasty.map((text) => ({ [text]: text })),
    ];
    for (const { method, path } of operations.filter((operation) => operation.hasBody)) {
      for (const body of bodies)
        await expectClientError(method, filled(path, "490154203237518"), JSON.stringify(body), {
          "content-type": "application/json",
        });
    }
  });

  it("nested without end is refused where it is stored and ignored elsewhere", async () => {
    const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    const call = (body: string) =>
      api.call("POST", "/api/v1/devices/", {
        token: integration.token,
        body,
        headers: { "content-type": "application/json" },
      });
    const device = '"uid":"490154203237500","device_model_slug":"iw-h10"';
    const stored = await call(`{${device},"metadata":{"a":${deep(30_000)}}}`);
    expect([stored.status, stored.body.errors]).toEqual([400, { metadata: ["The value is nested too deeply."] }]);
    const alone = await call(deep(30_000));
    expect([alone.status, alone.body.errors]).toEqual([400, { non_field_errors: ["The value is nested too deeply."] }]);
    expect((await call(`{${device},"unknown":${deep(30_000)}}`)).status).toBe(201);
    expect((await call(`{${device},"metadata":{"a":${deep(400)}}}`)).status).toBe(200);
  });

  it("as a media type is 415 on the API, and invalid_request on the token endpoints", async () => {
    for (const type of ["x", "/", ";", "application/json, text/plain", "text/plain"]) {
      const headers = { "content-type": type };
      const body = JSON.stringify({ email: "a@example.org" });
      const answer = await api.call("POST", "/api/v1/auth/users/", { token: integration.token, body, headers });
      expect([type, answer.status, answer.body.code]).toEqual([type, 415, "unsupported_media_type"]);
      const oauth = await api.call("POST", "/o/token/", { body: "grant_type=client_credentials", headers });
      expect([type, oauth.status, oauth.body.error]).toEqual([type, 400, "invalid_request"]);
    }
  });

  it("in fields that nobody reads is ignored", async () => {
    const body = '{"email":"ignored@example.org","foo":"\\u0000","bar":"\\ud800","__proto__":{"x":1}}';
    const headers = { "content-type": "application/json" };
    const answer = await api.call("POST", "/api/v1/auth/users/", { token: integration.token, body, headers });
    expect(answer.status).toBe(201);
    const device = '{"uid":"490154203237599","device_model_slug":"iw-h10","metadata":{"__proto__":{"a":1}}}';
    const made = await api.call("POST", "/api/v1/devices/", { token: integration.token, body: device, headers });
    expect([made.status, made.text]).toEqual([201, expect.stringContaining('"metadata":{"__proto__":{"a":1}}')]);
  });

  it("as random queries never makes a server error", async () => {
    const lists = operations.filter(({ method, path }) => method === "GET" && !path.includes("{"));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...lists),
        fc.array(fc.tuple(fc.nat(20), fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...nasty))), {
          maxLength: 5,
        }),
        async ({ path, parameters }, chosen) => {
          const query = chosen.map(
            ([index, value]) => `${parameters[index % parameters.length]?.name}=${encodeURIComponentLoosely(value)}`,
          );
          await expectClientError("GET", `${path}?${query.join("&")}`);
        },
      ),
      { numRuns: 300 },
    );
  });
});

/** encodeURIComponent that does not throw for half a surrogate pair. */
function encodeURIComponentLoosely(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}
