import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readHealth } from "../../src/outbound/delivery-health.ts";
import { describeEvent, findEvent } from "../../src/outbound/event-detail.ts";
import { resendEvent } from "../../src/outbound/resend.ts";
import { findIntegration, setWebhookPaused } from "../../src/resources/organizations/integration-store.ts";
import { cliActor } from "../support/api.ts";
import { makeAuthority } from "../support/certificates.ts";
import { type DeliveryWorld, openDeliveryWorld, type TestHook } from "../support/delivery.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";
import { testSecrets } from "../support/secrets.ts";
import { until } from "../support/until.ts";

const authority = makeAuthority();
let world: DeliveryWorld;
let receiver: Receiver;

beforeAll(async () => {
  world = await openDeliveryWorld(authority);
});
afterEach(async () => {
  await world.closeWorkers();
  await receiver.close();
});
afterAll(() => world.close());

const healthOf = async ({ id, organizationId }: TestHook) => {
  const [health] = await readHealth(world.db, organizationId, [id], new Date());
  if (!health) throw new Error("no health");
  return health;
};

async function integrationOf({ id, organizationId }: TestHook) {
  const integration = await findIntegration(world.db, organizationId, id);
  if (!integration) throw new Error("no integration");
  return integration;
}

async function detailOf(hook: TestHook, eventId: string) {
  const integration = await integrationOf(hook);
  const event = await findEvent(world.db, integration, eventId);
  if (!event) throw new Error("no event");
  return describeEvent(world.db, integration, event, { now: new Date(), secrets: testSecrets });
}

const resend = async (hook: TestHook, eventId: string): Promise<boolean> => {
  const integration = await integrationOf(hook);
  const event = await findEvent(world.db, integration, eventId);
  if (!event) throw new Error("no event");
  return world.db.transaction((tx) => resendEvent(tx, integration, event, new Date()));
};

describe("the health of deliveries", () => {
  it("counts attempts, their duration, what waits and what was given up, and knows the last error", async () => {
    receiver = await openReceiver(authority, {
      answer: (call, response) => {
        if (call.raw.includes("alarm.fall")) {
          response.writeHead(500).end("no room for whsec_MDEyMzQ1 in the store\u0000");
          return undefined;
        }
        return 200;
      },
    });
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    expect(await healthOf(hook)).toMatchObject({ delivered: 0, failed: 0, success_share: null, latency_p50_ms: null });
    await world.startWorker();
    const [good, bad] = await hook.append("alarm.sos", "alarm.fall");
    await until(async () => expect(await world.deadLettersOf(hook)).toHaveLength(1));
    const health = await healthOf(hook);
    expect(health).toMatchObject({ delivered: 1, failed: 5, waiting: 0, backlog_seconds: null, dead_letters: 1 });
    expect(health.success_share).toBeCloseTo(1 / 6);
    expect(health.latency_p95_ms).toBeGreaterThanOrEqual(health.latency_p50_ms ?? 0);
    expect(health.last_error).toMatchObject({ event_id: bad, status_code: 500, error: "HTTP 500" });
    expect(health.failing_since).not.toBeNull();
    expect(health.hours.at(-1)?.failed ?? 0).toBeLessThanOrEqual(5);

    const failed = await detailOf(hook, bad as string);
    expect([failed.push, failed.withheld, failed.attempts.length]).toEqual(["dead_letter", null, 5]);
    expect(failed.attempts[0]).toMatchObject({
      attempt: 5,
      status: "failed",
      status_code: 500,
      answer: "no room for whsec_… in the store",
    });
    expect(await detailOf(hook, good as string)).toMatchObject({
      push: "delivered",
      attempts: [{ attempt: 1, status: "delivered", status_code: 200, answer: "ok" }],
    });
  });

  it("forgets a failure with the next success, and says how long rows of a paused webhook have waited", async () => {
    receiver = await openReceiver(authority, { answer: 503 });
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    await world.startWorker();
    await hook.append("alarm.sos");
    await until(async () => expect((await healthOf(hook)).failing_since).not.toBeNull());
    receiver.answer(200);
    await hook.append("alarm.sos");
    await until(async () => expect((await healthOf(hook)).failing_since).toBeNull());
    await until(async () => expect((await healthOf(hook)).waiting).toBe(0));
    const pause = (isPaused: boolean) =>
      world.db.transaction((tx) =>
        setWebhookPaused(tx, hook.organizationId, hook.id, isPaused, cliActor(hook.organizationId), new Date()),
      );
    await pause(true);
    const [waiting] = await hook.append("alarm.sos", "alarm.sos");
    await until(async () => expect(await healthOf(hook)).toMatchObject({ waiting: 2 }));
    expect((await healthOf(hook)).backlog_seconds).toBeGreaterThanOrEqual(0);
    expect((await detailOf(hook, waiting as string)).push).toBe("waiting");
    expect(await resend(hook, waiting as string)).toBe(false);
    await pause(false);
    await until(async () => expect(await healthOf(hook)).toMatchObject({ waiting: 0, backlog_seconds: null }));
  });
});

describe("one event", () => {
  it("is sent again although it was delivered, and although it was made before there was a webhook", async () => {
    receiver = await openReceiver(authority);
    const hook = await world.makeHook();
    const [early] = await hook.append("alarm.sos");
    await hook.set({ webhookUrl: receiver.url });
    await world.startWorker();
    const [late] = await hook.append("alarm.fall");
    await until(async () => expect((await detailOf(hook, late as string)).push).toBe("delivered"));
    expect((await detailOf(hook, early as string)).push).toBe("none");
    expect(await resend(hook, early as string)).toBe(true);
    await until(async () => expect((await detailOf(hook, early as string)).push).toBe("delivered"));
    expect(await resend(hook, late as string)).toBe(true);
    await until(() => expect(receiver.calls.map(({ id }) => id)).toEqual([late, early, late]));
    await until(async () => expect((await detailOf(hook, late as string)).attempts).toHaveLength(2));
  });

  it("leaves the list of dead letters when it is sent again", async () => {
    receiver = await openReceiver(authority, { answer: 410 });
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    await world.startWorker();
    const [id] = await hook.append("alarm.sos");
    await until(async () => expect(await world.deadLettersOf(hook)).toHaveLength(1));
    receiver.answer(200);
    expect(await resend(hook, id as string)).toBe(true);
    await until(async () => expect((await detailOf(hook, id as string)).push).toBe("delivered"));
    expect(await world.deadLettersOf(hook)).toEqual([]);
  });
});
