import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../test/support/until.ts";
import { ApiError, ConnectionError, hasCode, TimeoutError } from "../src/vigil-client.ts";
import { refusal } from "./support/inject-fetch.ts";
import { clientOf, openPartnerClient, type PartnerClient } from "./support/partner-client.ts";

const uid = "490154203237518";
let world: PartnerClient;

beforeAll(async () => {
  world = await openPartnerClient();
  await world.client.devices.create({ uid, device_model_slug: "iw-h10", name: "Watch" });
});
afterAll(() => world.api.close());

const sentTo = (path: string) => world.net.requests.filter((request) => request.path.startsWith(path));

describe("tokens", () => {
  it("are fetched once for calls that start together, and kept", async () => {
    const client = clientOf(world, world.net);
    const before = sentTo("/o/token/").length;
    await Promise.all([client.organization.self(), client.devices.get(uid), client.organization.self()]);
    await client.organization.self();
    expect(sentTo("/o/token/").length - before).toBe(1);
  });

  it("are fetched anew when the service no longer accepts them", async () => {
    const client = clientOf(world, world.net);
    const { slug } = await client.organization.self();
    await world.api.db.run`delete from access_tokens where integration_id = ${world.integration.id}`;
    // The service itself may know a token for a moment longer.
    world.net.fail("/organizations/self/", refusal(401, "invalid_token"));
    expect((await client.organization.self()).slug).toBe(slug);
  });

  it("fail with the error of the token endpoint when the secret is wrong", async () => {
    const wrong = { ...world, integration: { ...world.integration, clientSecret: "wrong" } };
    const error = await clientOf(wrong, world.net)
      .organization.self()
      .catch((one: unknown) => one);
    expect(error).toBeInstanceOf(ApiError);
    expect([(error as ApiError).status, (error as ApiError).code]).toEqual([401, "invalid_client"]);
  });
});

describe("errors", () => {
  it("have the code, the request id and the details of the body", async () => {
    const error = await world.client.devices.create({ uid: "1" }).catch((one: unknown) => one);
    if (!hasCode(error, "validation_error")) throw error;
    expect(Object.keys(error.details.errors)).toContain("uid");
    expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(hasCode(error, "not_found")).toBe(false);
  });

  it("are read from the form of replay too", async () => {
    const error = await world.client.outboundEvents.page({ limit: 0 }).catch((one: unknown) => one);
    expect(hasCode(error, "invalid_limit")).toBe(true);
  });
});

describe("a call that fails for a moment", () => {
  it("is retried when the connection is refused or the service is busy", async () => {
    world.net.fail("/devices/", "refused", refusal(503, "service_unavailable", { "retry-after": "0" }));
    expect((await world.client.devices.get(uid)).uid).toBe(uid);
  });

  it("waits as long as Retry-After says, unless that is too long", async () => {
    world.net.fail("/organizations/self/", refusal(429, "throttled", { "retry-after": "1" }));
    const startedMs = Date.now();
    await world.client.organization.self();
    expect(Date.now() - startedMs).toBeGreaterThan(950);
    world.net.fail("/organizations/self/", refusal(429, "throttled", { "retry-after": "3000" }));
    const error = await world.client.organization.self().catch((one: unknown) => one);
    expect(hasCode(error, "throttled") && error.retryAfterMs).toBe(3_000_000);
  });

  it("creates one thing although the answer was lost, by its Idempotency-Key", async () => {
    world.net.fail("/geofences/", "lost");
    const fence = { name: "Home", center: { lat: 41.9, lng: 12.5 }, radius: 100 };
    const made = await world.client.geofences.create({ ...fence, scope: "device" });
    const named = await world.client.geofences.list({ search: "Home" }).toArray();
    expect(named.map(({ id }) => id)).toEqual([made.id]);
    const keys = sentTo("/api/v1/geofences/").flatMap(({ method, headers }) =>
      method === "POST" ? [headers.get("idempotency-key")] : [],
    );
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
    world.net.fail(made.id, "lost");
    await expect(world.client.geofences.delete(made.id)).resolves.toBeUndefined();
  });

  it("is not repeated when nobody knows whether it was done and it has no key", async () => {
    world.net.fail("/unassign/", "lost");
    const call = world.client.assignments.unassign(uid, { user_id: "00000000-0000-4000-8000-000000000000" });
    await expect(call).rejects.toBeInstanceOf(ConnectionError);
  });
});

describe("time-outs and signals", () => {
  const never = (): Promise<Response> => new Promise(() => undefined);

  it("end an attempt without an answer", async () => {
    const fetch = (_: string, init: RequestInit) =>
      new Promise<Response>((_resolve, reject) =>
        init.signal?.addEventListener("abort", () => reject(init.signal?.reason)),
      );
    const client = clientOf(world, { ...world.net, fetch }, { maxRetries: 0, timeoutMs: 20 });
    await expect(client.organization.self()).rejects.toBeInstanceOf(TimeoutError);
  });

  it("stop a wait between attempts with the reason of the signal", async () => {
    const controller = new AbortController();
    world.net.fail("/organizations/self/", refusal(429, "throttled", { "retry-after": "30" }));
    const call = world.client.organization.self({ signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    await expect(
      clientOf(world, { ...world.net, fetch: never }).organization.self({ signal: AbortSignal.abort(new Error("no")) }),
    ).rejects.toThrow("no");
  });
});

describe("lists", () => {
  it("give every row of every page, also when a page has to be asked for again", async () => {
    const uids = Array.from({ length: 7 }, (_, n) => `49015420323760${n}`);
    for (const one of uids)
      await world.client.devices.create({ uid: one, device_model_slug: "iw-h10", tags: ["many"] });
    world.net.fail("page=2", "refused");
    const rows = await world.client.devices.list({ tags: "many", page_size: 3 }).toArray();
    expect(rows.map((device) => device.uid)).toEqual(uids);
    const sizes: number[] = [];
    for await (const page of world.client.devices.list({ tags: "many", page_size: 3 }).pages()) {
      sizes.push(page.results.length);
    }
    expect(sizes).toEqual([3, 3, 1]);
  });
});

describe("commands", () => {
  it("resolve as accepted, and settle when they are final", async () => {
    const sent = world.client.commands.send(uid, { command_type: "locate_now" });
    const { command_uuid, status } = await sent;
    expect(status).toBe("pending");
    await expect(sent.settled({ timeoutMs: 1 })).rejects.toBeInstanceOf(TimeoutError);
    const settled = sent.settled({ maxPollMs: 20 });
    await until(() => expect(sentTo(`/api/v1/devices/${uid}/commands/`).length).toBeGreaterThan(2));
    await world.api.db.run`
      update commands set status = 'ack_ok', acked_at = now(), completed_at = now() where id = ${command_uuid}`;
    expect(await settled).toMatchObject({ command_uuid, status: "ack_ok", terminal: true });
  });
});
