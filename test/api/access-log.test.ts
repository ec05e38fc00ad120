import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestApi, type TestApi } from "../support/api.ts";
import { logInto } from "../support/log-lines.ts";
import { makeIntegration, makeOrganization } from "../support/world.ts";

const lines: string[] = [];
let api: TestApi;
beforeAll(async () => {
  const log = logInto(lines);
  log.level = "info";
  api = await openTestApi({ isPrivate: true, log, logsEveryCall: true });
});
afterAll(() => api.close());

it("writes a line for every call, with principal and address, and without what was asked", async () => {
  const organization = await makeOrganization(api);
  const { token, id } = await makeIntegration(api, organization);
  const headers = { "x-request-id": "good-call" };
  expect((await api.call("GET", "/api/v1/devices/?search=Maria", { token, headers })).status).toBe(200);
  const line = lines.find((one) => one.includes("good-call")) ?? "";
  expect(JSON.parse(line)).toMatchObject({
    msg: "request",
    route: "/api/v1/devices/",
    method: "GET",
    status: 200,
    principal: id,
    organization: organization.slug,
    address: "127.0.0.1",
  });
  expect(line).not.toContain("Maria");
  expect(line).not.toContain(token);

  const refusedHeaders = { "x-request-id": "bad-call" };
  expect((await api.call("GET", "/api/v1/devices/", { headers: refusedHeaders })).status).toBe(401);
  const refused = JSON.parse(lines.find((one) => one.includes("bad-call")) ?? "") as Record<string, unknown>;
  expect(refused).toMatchObject({ status: 401, address: "127.0.0.1" });
  expect(refused).not.toHaveProperty("principal");
});
