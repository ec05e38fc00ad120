import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestApi, type TestApi } from "../support/api.ts";
import { lintErrors } from "../support/redocly.ts";

let api: TestApi;
beforeAll(async () => {
  api = await openTestApi();
});
afterAll(() => api.close());

it.each(["3.0", "3.1"])("the description as OpenAPI %s passes redocly lint without an error", async (version) => {
  const { status, body } = await api.call("GET", `/api/schema/?version=${version}&format=json`);
  expect(status).toBe(200);
  expect(await lintErrors(body)).toEqual([]);
});
