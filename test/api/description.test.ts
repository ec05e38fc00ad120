import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import * as errors from "../../src/lib/errors.ts";
import { allScopes } from "../../src/oauth/scopes.ts";
import { webhookEventTypes } from "../../src/outbox/webhook-event-types.ts";
import { openTestApi, type TestApi } from "../support/api.ts";

const root = resolve(import.meta.dirname, "../..");

describe("the description", () => {
  let api: TestApi;
  // biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document, looked into freely
  let description: any;

  beforeAll(async () => {
    api = await openTestApi();
    description = (await api.call("GET", "/api/schema/?format=json")).body;
  });
  afterAll(() => api.close());

  it("is served as YAML and as JSON without a token, and both say the same", async () => {
    const yaml = await api.call("GET", "/api/schema/");
    expect(yaml.headers["content-type"]).toMatch(/^application\/vnd\.oai\.openapi/);
    expect(parse(yaml.text)).toEqual(description);
    expect((await api.call("GET", "/api/schema/?format=json")).headers["content-type"]).toMatch(/^application\/json/);
    expect((await api.call("GET", "/api/schema/?format=xml")).status).toBe(400);
  });

  it("is OpenAPI 3.0.3 with client credentials and all 26 scopes", () => {
    expect(description.openapi).toBe("3.0.3");
    const { flows, type } = description.components.securitySchemes.oauth2;
    expect([type, Object.keys(flows), flows.clientCredentials.tokenUrl]).toEqual([
      "oauth2",
      ["clientCredentials"],
      "/o/token/",
    ]);
    expect(Object.keys(flows.clientCredentials.scopes)).toEqual(allScopes);
    expect(allScopes).toHaveLength(26);
  });

  it("describes exactly the routes that exist, with scopes, errors and unique operation ids", () => {
    const items = Object.entries(description.paths).filter(([path]) => !path.startsWith("/o/"));
    const operations = items.flatMap(([, item]) => Object.values(item as object));
    expect(operations).toHaveLength(72);
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(items.every(([path]) => path.startsWith("/api/v1/") && path.endsWith("/"))).toBe(true);
    for (const operation of operations) {
      expect(operation.security).toEqual([{ oauth2: expect.any(Array) }, { bearer: [] }]);
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(["401", "403", "429"]));
    }
    expect(ids).toEqual(
      expect.arrayContaining([
        "organizations_self_retrieve",
        "protocols_list",
        "protocols_retrieve",
        "protocols_models_list",
        "protocols_models_retrieve",
        "protocols_models_capabilities_list",
        "models_list",
        "audit_log_list",
        "audit_log_retrieve",
      ]),
    );
  });

  it("names its enumerations with the suffix Enum, and its errors", () => {
    const { schemas } = description.components;
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining(["Error", "OAuthError", "ReplayError", "PaginatedProtocolList"]),
    );
    for (const [name, schema] of Object.entries(schemas as Record<string, { enum?: unknown }>)) {
      if (schema.enum) expect(name).toMatch(/Enum$/);
    }
    expect(JSON.stringify(description)).not.toMatch(/"\$id"|x-message|\/console\//);
  });

  it("has pages that refer to nothing outside", async () => {
    for (const path of ["/api/schema/swagger/", "/api/schema/redoc/"]) {
      const page = await api.call("GET", path);
      expect(page.status).toBe(200);
      expect(page.headers["content-type"]).toMatch(/^text\/html/);
      expect(page.text).not.toMatch(/(src|href)="(https?:)?\/\//);
      const assets = [...page.text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map((match) => match[1] as string);
      expect(assets.length).toBeGreaterThan(1);
      for (const asset of assets) expect([asset, (await api.call("GET", asset)).status]).toEqual([asset, 200]);
    }
    expect((await api.call("GET", "/api/schema/assets/swagger/package.json")).status).toBe(404);
  });

  it("has a ReDoc that loads no logo from the host of its makers", async () => {
    const bundle = await api.call("GET", "/api/schema/assets/redoc.standalone.js");
    expect(bundle.text).not.toMatch(/src:"https?:/);
    expect(bundle.text).toContain('alt:"redocly logo"');
  });

  it("has a favicon for browsers", async () => {
    const icon = await api.call("GET", "/favicon.ico");
    expect([icon.status, icon.headers["content-type"]]).toEqual([200, "image/png"]);
    expect(Number(icon.headers["content-length"])).toBeGreaterThan(100);
  });
});

describe("the documents", () => {
  const documented = async (file: string) => readFile(join(root, "docs", file), "utf8");

  it("list every error code of the catalog, and no other", async () => {
    const text = await documented("partners/errors.md");
    const samples: Record<string, unknown[]> = {
      validationError: [{}],
      insufficientScope: [[]],
      featureNotEnabled: ["messaging"],
      invitationNotPending: [20],
      cursorExpired: [30, "id"],
      throttled: [1, []],
      commandQueueFull: [20, 20, 1],
      inviteRateLimited: [1],
      invalidCursor: ["text"],
      notFound: ["text"],
      unsupportedMediaType: ["text"],
      serviceUnavailable: [1],
    };
    const codes = Object.entries(errors).flatMap(([name, make]) => {
      if (typeof make !== "function" || name === "ApiError") return [];
      return [(make as (...given: unknown[]) => errors.ApiError)(...(samples[name] ?? [])).code];
    });
    const listed = [...text.matchAll(/^\| `([a-z_]+)` \|/gm)].map((match) => match[1]);
    expect(listed.toSorted()).toEqual([...new Set(codes)].toSorted());
    expect(errors.errorCodes.toSorted()).toEqual([...new Set(codes)].toSorted());
  });

  it("list every scope, and no other", async () => {
    const text = await documented("partners/authentication.md");
    const listed = [...text.matchAll(/^\| `([a-z]+:[a-z]+)` \|/gm)].map((match) => match[1]);
    expect(listed).toEqual(allScopes);
  });

  it("list every outbound type with its scopes, additive ones as such, and no other", async () => {
    const text = await documented("partners/webhooks.md");
    const rows = [...text.matchAll(/^\| `([a-z]+\.[a-z_]+)` \| (.+?) \| (additive: )?/gm)];
    const listed = rows.map(([, type, needs, additive]) => [
      type,
      {
        scopes: [...(needs as string).matchAll(/`(.+?)`/g)].map((match) => match[1]),
        additive: additive !== undefined,
      },
    ]);
    expect(Object.fromEntries(listed)).toEqual(webhookEventTypes);
  });

  it("list every setting, and no other", async () => {
    const text = await documented("operators/configuration.md");
    const source = await readFile(join(root, "src/config.ts"), "utf8");
    const read = new Set([...source.matchAll(/"((?:(?:VIGIL|OTEL)_[A-Z_]+)|DATABASE_URL)"/g)].map((match) => match[1]));
    const listed = [...text.matchAll(/^\| `((?:(?:VIGIL|OTEL)_[A-Z_]+)|DATABASE_URL)` \|/gm)].map((match) => match[1]);
    expect(listed.toSorted()).toEqual([...read].toSorted());
  });

  it("list every metric, and no other", async () => {
    const text = await documented("operators/monitoring.md");
    const listed = [...text.matchAll(/^\| `((?:vigil|process)_[a-z_]+)` \| (counter|gauge|histogram) \|/gm)];
    const made = new Map<string, string>();
    for (const file of await readdir(join(root, "src"), { recursive: true })) {
      if (!file.endsWith(".ts")) continue;
      const source = await readFile(join(root, "src", file), "utf8");
      for (const [, kind, name] of source.matchAll(/\.(counter|gauge|histogram)\(\s*"([a-z_]+)"/g)) {
        made.set(name as string, kind as string);
      }
    }
    expect(listed.map(([, name, kind]) => [name, kind]).toSorted()).toEqual([...made].toSorted());
  });
});
