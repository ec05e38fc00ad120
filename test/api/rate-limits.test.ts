import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ManualClock, makeManualClock } from "../../src/lib/clock.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { makeIntegration, makeOrganization } from "../support/world.ts";

describe("rate limits", () => {
  let clock: ManualClock;
  let api: TestApi;

  beforeAll(async () => {
    clock = makeManualClock(new Date());
    api = await openTestApi({ clock });
  });
  afterAll(() => api.close());

  async function caller(perMinute: number, perHour: number) {
    const { token } = await makeIntegration(api, await makeOrganization(api, { perMinute, perHour }));
    return (path = "/api/v1/protocols/?page_size=1") => api.call("GET", path, { token });
  }

  it("shows both windows on every answer, also on refusals", async () => {
    const call = await caller(600, 20_000);
    const first = await call();
    expect(first.headers).toMatchObject({
      "ratelimit-policy": '"per_minute";q=600;w=60, "per_hour";q=20000;w=3600',
      ratelimit: '"per_minute";r=599;t=60, "per_hour";r=19999;t=3600',
      "x-ratelimit-limit": "600",
      "x-ratelimit-remaining": "599",
      "x-ratelimit-reset": "60",
    });
    clock.advanceMs(20_500);
    const second = await call("/api/v1/nothing/");
    expect(second.status).toBe(403);
    expect(second.headers.ratelimit).toBe('"per_minute";r=598;t=40, "per_hour";r=19998;t=3580');
  });

  it("refuses past the quota with the wait, counts refusals in nothing, and starts a new window after it", async () => {
    const call = await caller(3, 5);
    expect([(await call()).status, (await call()).status, (await call()).status]).toEqual([200, 200, 200]);
    const refused = await call();
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({
      code: "throttled",
      detail: "Request was throttled. Expected available in 60 seconds.",
      violated_policies: ["per_minute"],
      request_id: expect.any(String),
    });
    expect(refused.headers).toMatchObject({
      "retry-after": "60",
      "x-ratelimit-remaining": "0",
      ratelimit: '"per_minute";r=0;t=60, "per_hour";r=2;t=3600',
    });
    clock.advanceMs(60_000);
    expect([(await call()).status, (await call()).status]).toEqual([200, 200]);
    const hour = await call();
    expect([hour.status, hour.body.violated_policies, hour.headers["retry-after"]]).toEqual([
      429,
      ["per_hour"],
      "3540",
    ]);
  });

  it("counts a call whose path cannot be decoded like every other", async () => {
    const call = await caller(2, 100);
    const refused = await call("/api/v1/devices/%zz/");
    expect([refused.status, refused.headers.ratelimit]).toEqual([403, '"per_minute";r=1;t=60, "per_hour";r=99;t=3600']);
    await call();
    const throttled = await call("/api/v1/%zz/");
    expect([throttled.status, throttled.body.code, throttled.headers["retry-after"]]).toEqual([429, "throttled", "60"]);
  });

  it("names both windows when both are exceeded, with the longer wait", async () => {
    const call = await caller(2, 2);
    await call();
    await call();
    const refused = await call();
    expect(refused.body.violated_policies).toEqual(["per_minute", "per_hour"]);
    expect(refused.headers["retry-after"]).toBe("3600");
  });

  it("allows exactly the quota of 200 parallel calls", async () => {
    const call = await caller(50, 1000);
    const answers = await Promise.all(Array.from({ length: 200 }, () => call()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(150);
  });

  it("does not count calls without a valid token", async () => {
    const call = await caller(5, 5);
    await api.call("GET", "/api/v1/protocols/");
    expect((await call()).headers["x-ratelimit-remaining"]).toBe("4");
    expect((await api.call("GET", "/api/v1/protocols/")).headers["x-ratelimit-limit"]).toBeUndefined();
  });
});
