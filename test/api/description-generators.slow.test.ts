import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { describeApi } from "../../src/http/openapi.ts";
import { errorCodes } from "../../src/lib/errors.ts";
import { allWebhookEventTypes } from "../../src/outbox/webhook-event-types.ts";
import { openTestApi, type TestApi } from "../support/api.ts";

type Json = Record<string, unknown>;
interface Operation {
  operationId: string;
  tags: string[];
  security: Json[];
  requestBody?: { content: Record<string, { schema: Json }> };
  responses: Record<string, { headers: Json; content?: Json }>;
}
interface Description {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Json;
  components: { schemas: Record<string, Json>; headers: Json; securitySchemes: Record<string, Json> };
}

describe("the description for generators", () => {
  let api: TestApi;
  let description: Description;
  const read = async (query: string): Promise<Description> => (await api.call("GET", `/api/schema/?${query}`)).body;
  const operations = (): Operation[] => Object.values(description.paths).flatMap((item) => Object.values(item));
  const field = (schema: string, name: string): Json => {
    const { properties } = description.components.schemas[schema] as { properties: Record<string, Json> };
    return properties[name] as Json;
  };

  beforeAll(async () => {
    api = await openTestApi();
    description = await read("format=json");
  });
  afterAll(() => api.close());

  it("describes the three OAuth calls, with one form of their bodies", () => {
    const oauth = operations().filter(({ tags }) => tags.includes("OAuth"));
    expect(oauth.map(({ operationId }) => operationId)).toEqual([
      "oauth_token",
      "oauth_revoke_token",
      "oauth_introspect",
    ]);
    for (const { requestBody, responses, security } of oauth) {
      expect(Object.keys(requestBody?.content ?? {})).toEqual(["application/x-www-form-urlencoded"]);
      expect(Object.keys(responses)).toEqual(["200", "400", "401", "429", "500", "503"]);
      expect(security).toEqual([]);
    }
  });

  it("offers a bearer token beside the flow that makes one", () => {
    expect(description.components.securitySchemes.bearer).toMatchObject({ type: "http", scheme: "bearer" });
    expect(description.paths["/api/v1/geofences/"]?.post?.security).toEqual([
      { oauth2: ["geofences:write"] },
      { bearer: [] },
    ]);
  });

  it("gives each field of a request one type", () => {
    for (const [name, schema] of Object.entries(description.components.schemas)) {
      if (name.endsWith("Request"))
        expect([name, JSON.stringify(schema)]).not.toEqual([name, expect.stringMatching(/"(anyOf|oneOf|not)":/)]);
    }
    expect(field("AlertThresholdRequest", "scope")).toEqual({ $ref: "#/components/schemas/ThresholdScopeEnum" });
    expect(field("AlertThresholdRequest", "severity")).toEqual({
      allOf: [{ $ref: "#/components/schemas/ThresholdSeverityEnum" }],
      default: "Warning",
      description: "Default: `Warning`.",
    });
    expect(field("UserRequest", "role")).toMatchObject({
      allOf: [{ $ref: "#/components/schemas/UserRequestRoleEnum" }],
      default: "USER",
    });
    expect(field("DeviceRequest", "tags")).toMatchObject({ type: "array", items: { type: "string" } });
    expect(field("PatchedDeviceRequest", "tags")).toMatchObject({ type: "array" });
  });

  it("says each default in words too, and requires no field that has one", () => {
    let count = 0;
    for (const [name, schema] of Object.entries(description.components.schemas)) {
      for (const [property, one] of Object.entries((schema.properties as Record<string, Json> | undefined) ?? {})) {
        if (!("default" in one)) continue;
        count++;
        expect([name, property, one.description]).toEqual([name, property, expect.stringContaining("Default: ")]);
        expect([name, schema.required ?? []]).not.toEqual([name, expect.arrayContaining([property])]);
        expect(name).not.toMatch(/^Patched/);
      }
    }
    expect(count).toBeGreaterThan(30);
  });

  it("describes the headers of quotas, and when to come again", () => {
    const rate = ["RateLimit-Policy", "RateLimit", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];
    expect(Object.keys(description.components.headers)).toEqual(["X-Request-Id", "Retry-After", ...rate]);
    const { responses } = operations().find(({ operationId }) => operationId === "devices_list") as Operation;
    expect(Object.keys(responses["200"]?.headers ?? {})).toEqual(["X-Request-Id", ...rate]);
    expect(Object.keys(responses["401"]?.headers ?? {})).toEqual(["X-Request-Id"]);
    expect(Object.keys(responses["429"]?.headers ?? {})).toEqual(["X-Request-Id", "Retry-After", ...rate]);
    expect(Object.keys(responses["503"]?.headers ?? {})).toEqual(["X-Request-Id", "Retry-After"]);
  });

  it("lists the known error codes as open to more", () => {
    expect(field("Error", "code")).toMatchObject({ type: "string", "x-extensible-enum": [...errorCodes] });
    expect(field("Error", "code")).not.toHaveProperty("enum");
  });

  it("names the configured address, and else the one it is read from", () => {
    expect(description.servers[0]?.url).toBe("/");
    const made = describeApi([], { version: "1", serverUrl: "https://api.example" }) as unknown as Description;
    expect(made.servers).toEqual([{ url: "https://api.example" }]);
  });

  it("is OpenAPI 3.1 with webhooks on request, in both forms", async () => {
    const modern = await read("version=3.1&format=json");
    expect(modern.openapi).toMatch(/^3\.1\./);
    expect(Object.keys(modern.webhooks ?? {})).toEqual(allWebhookEventTypes);
    expect(Object.keys(modern.paths)).toEqual(Object.keys(description.paths));
    const text = JSON.stringify(modern);
    expect(text).not.toMatch(/"nullable":|"x-webhooks":|"exclusiveM(in|ax)imum":true|"example":/);
    const yaml = await api.call("GET", "/api/schema/?version=3.1");
    expect(yaml.headers["content-type"]).toMatch(/^application\/vnd\.oai\.openapi/);
    expect(parse(yaml.text)).toEqual(modern);
    const device = modern.components.schemas.Device?.properties as Record<string, Json>;
    expect(device.last_seen_at?.type).toEqual(["string", "null"]);
  });

  it("refuses another version", async () => {
    expect((await api.call("GET", "/api/schema/?version=2.0")).status).toBe(400);
    expect((await api.call("GET", "/api/schema/?version=3.0&format=json")).body).toEqual(description);
  });

  it("travels compressed, and not at all to those who have it", async () => {
    const get = (headers: Record<string, string>) =>
      api.app.inject({ method: "GET", url: "/api/schema/?format=json", headers });
    const plain = await get({});
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(plain.headers).toMatchObject({ vary: "Accept-Encoding", "cache-control": "public, no-cache" });
    const packed = await get({ "accept-encoding": "gzip, deflate, br" });
    expect(packed.headers["content-encoding"]).toBe("br");
    expect(brotliDecompressSync(packed.rawPayload).toString()).toBe(plain.body);
    const zipped = await get({ "accept-encoding": "gzip" });
    expect(zipped.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(zipped.rawPayload).toString()).toBe(plain.body);
    expect(zipped.rawPayload.length).toBeLessThan(plain.rawPayload.length / 5);
    const again = await get({ "if-none-match": String(plain.headers.etag) });
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, "", plain.headers.etag]);
    const other = await api.app.inject({ method: "GET", url: "/api/schema/?format=json&version=3.1" });
    expect(other.headers.etag).not.toBe(plain.headers.etag);
  });
});
