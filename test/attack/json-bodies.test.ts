import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestApi, type TestApi } from "../support/api.ts";
import { makeIntegration, makeOrganization, type TestIntegration } from "../support/world.ts";

let api: TestApi;
let address: string;
let attacker: TestIntegration;
let honest: TestIntegration;

beforeAll(async () => {
  // It listens on a port of its own.
  api = await openTestApi({ isPrivate: true });
  address = await api.app.listen({ host: "127.0.0.1", port: 0 });
  attacker = await makeIntegration(api, await makeOrganization(api));
  honest = await makeIntegration(api, await makeOrganization(api));
});
afterAll(() => api.close());

interface Answer {
  status: number;
  body: { code?: string; error?: string; errors?: Record<string, string[]> };
}

async function post(path: string, text: string, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await fetch(`${address}${path}`, {
    method: "POST",
    body: text,
    headers: { "content-type": "application/json", ...headers },
  });
  return { status: answer.status, body: (await answer.json()) as Answer["body"] };
}

const bearer = ({ token }: TestIntegration): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** Short items that break every rule there is for them. */
const wrongWindows = (bytes: number): string =>
  `{"schedule":{"windows":[${Array.from({ length: Math.floor(bytes / 3) }, () => "{}").join(",")}]}}`;
const wrongNames = (bytes: number): string => `{"email":[${"0,".repeat(bytes / 2)}0],"password":{}}`;

describe("a JSON body of a stranger", () => {
  it.each([
    "/console/api/login/",
    "/console/api/session/",
    "/console/api/password/forgot/",
    "/console/api/password/reset/",
    "/console/api/activate/",
    "/console/api/accept/",
  ])("has at most 8 KB at %s", async (path) => {
    expect(await post(path, `"${"a".repeat(8190)}"`)).toMatchObject({ status: 400 });
    expect(await post(path, `"${"a".repeat(8191)}"`)).toMatchObject({
      status: 413,
      body: { code: "payload_too_large" },
    });
  });

  it.each(["/o/token/", "/o/revoke_token/", "/o/introspect/"])("has at most 8 KB at %s", async (path) => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`parameter${n}`, "x"]));
    const answer = await post(path, JSON.stringify(many));
    expect(answer).toMatchObject({ status: 400, body: { error: "invalid_request" } });
    expect(JSON.stringify(answer.body)).toContain("too large");
  });

  it("is not looked at without a token", async () => {
    const answer = await post("/api/v1/geofences/", wrongWindows(60_000));
    expect(answer.status).toBe(401);
  });
});

describe("a JSON body of a partner", () => {
  it("has at most 64 KB", async () => {
    const ofLength = (bytes: number): string => `{"name":"${"a".repeat(bytes - 11)}"}`;
    const within = await post("/api/v1/geofences/", ofLength(65_536), bearer(attacker));
    expect(within).toMatchObject({ status: 400, body: { code: "validation_error" } });
    const beyond = await post("/api/v1/geofences/", ofLength(65_537), bearer(attacker));
    expect(beyond).toMatchObject({ status: 413, body: { code: "payload_too_large" } });
  });

  it("that is wrong in thousands of places gets a bounded answer", async () => {
    const { status, body } = await post("/api/v1/geofences/", wrongWindows(65_000), bearer(attacker));
    expect(status).toBe(400);
    expect(body.errors).toMatchObject({
      "schedule.windows": ["Ensure this field has no more than 50 elements."],
      "schedule.windows.0.days": ["This field is required."],
    });
    expect(Object.keys(body.errors ?? {}).length).toBeLessThanOrEqual(50);
  });

  it("with null characters in thousands of places gets a bounded answer", async () => {
    const text = JSON.stringify({ name: Array.from({ length: 5000 }, () => "\0") });
    const { status, body } = await post("/api/v1/geofences/", text, bearer(attacker));
    expect(status).toBe(400);
    expect(Object.keys(body.errors ?? {})).toHaveLength(50);
  });
});

/** Far more than a call needs, and far less than the bodies below took to be checked when nothing was bounded. */
const patienceMs = 10_000;

it("a volley of large bodies does not hold up the call of another partner", async () => {
  const [large, allowed, stranger] = [wrongWindows(1_000_000), wrongWindows(65_000), wrongNames(1_000_000)];
  const volley = Promise.allSettled(
    Array.from({ length: 10 }, () => [
      post("/api/v1/geofences/", large, bearer(attacker)),
      post("/api/v1/geofences/", allowed, bearer(attacker)),
      post("/console/api/login/", stranger),
    ]).flat(),
  );
  const answer = await fetch(`${address}/api/v1/organizations/self/`, {
    headers: bearer(honest),
    signal: AbortSignal.timeout(patienceMs),
  });
  expect(answer.status).toBe(200);
  const statuses = (await volley).map((call) => (call.status === "fulfilled" ? call.value.status : 0));
  expect(new Set(statuses)).toEqual(new Set([400, 413]));
});
