import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { makeClock } from "../../src/lib/clock.ts";
import { RecentWaits } from "../../src/lib/recent-waits.ts";
import { makeAuthority } from "../support/certificates.ts";
import { openDatabaseProxy } from "../support/database-proxy.ts";
import { type DeliveryWorld, openDeliveryWorld } from "../support/delivery.ts";
import { type AnswerWith, openReceiver, type Receiver, signatureOf } from "../support/receiver.ts";

const authority = makeAuthority();
let world: DeliveryWorld;
const receivers: Receiver[] = [];

beforeAll(async () => {
  world = await openDeliveryWorld(authority);
});
afterEach(async () => {
  await world.closeWorkers();
  for (const receiver of receivers.splice(0)) await receiver.close();
});
afterAll(() => world.close());

async function receive(answer: AnswerWith = 200): Promise<Receiver> {
  const receiver = await openReceiver(authority, { answer });
  receivers.push(receiver);
  return receiver;
}

const until = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 15_000, interval: 10 });
const idsOf = (receiver: Receiver): string[] => receiver.calls.map(({ id }) => id);

describe("a delivery", () => {
  it("is the row byte for byte, signed, with the headers of the specification", async () => {
    const receiver = await receive();
    const hook = await world.makeHook({ webhookUrl: `${receiver.url}?key=1` });
    await world.startWorker();
    const [id] = await hook.append("alarm.sos");
    await until(() => expect(idsOf(receiver)).toEqual([id]));
    const [call] = receiver.calls;
    const { body } = await world.db.one<{ body: string }>`select body from outbound_events where id = ${id}`;
    expect(call?.raw.toString()).toBe(body);
    expect(call?.path).toBe("POST /hook?key=1");
    expect(call?.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "Vigil-Webhooks/1",
      "idempotency-key": id,
      "x-event-type": "alarm.sos",
      "x-delivery-attempt": "1",
      "x-signature": signatureOf(hook.secret, Buffer.from(body)),
      "webhook-id": id,
    });
    expect(call?.headers).not.toHaveProperty("x-signature-previous");
    expect(Math.abs(Number(call?.headers["webhook-timestamp"]) - Date.now() / 1000)).toBeLessThan(60);
    await until(async () =>
      expect(await world.attemptsOf(hook)).toEqual([{ event_id: id, attempt: 1, status_code: 200, error: null }]),
    );
    expect(await world.openOf(hook)).toEqual([]);
  });

  it("is tried five times with the same bytes, then parked", async () => {
    const receiver = await receive(500);
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    const worker = await world.startWorker();
    const [id] = await hook.append("alarm.sos");
    await until(async () =>
      expect(await world.deadLettersOf(hook)).toEqual([{ id, attempts: 5, last_error: "HTTP 500" }]),
    );
    expect(receiver.calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
    expect(new Set(receiver.calls.map(({ raw }) => raw.toString("hex"))).size).toBe(1);
    expect((await world.attemptsOf(hook)).map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
    expect(await world.openOf(hook)).toEqual([]);
    expect(worker.metric('vigil_webhook_attempts_total{outcome="retried"}')).toBe(4);
    expect(worker.metric('vigil_webhook_attempts_total{outcome="parked"}')).toBe(1);
  });

  it("is never early, counted from the end of the attempt that failed", async () => {
    const ends: number[] = [];
    const receiver = await receive((_, response) => {
      setTimeout(() => {
        ends.push(Date.now());
        response.writeHead(503).end();
      }, 60);
      return undefined;
    });
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    await world.startWorker({ waitsMs: [80, 120, 40] });
    await hook.append("alarm.sos");
    await until(() => expect(receiver.calls).toHaveLength(5));
    const waits = receiver.calls.slice(1).map(({ atMs }, n) => atMs - (ends[n] as number));
    for (const [n, minMs] of [80, 120, 40, 40].entries()) expect(waits[n]).toBeGreaterThanOrEqual(minMs - 1);
  });

  it("waits as long as Retry-After asks, at most twice the wait", async () => {
    const receiver = await receive((call, response) => {
      response.writeHead(call.attempt === 1 ? 503 : 200, { "retry-after": "3600" }).end();
      return undefined;
    });
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    await world.startWorker({ waitsMs: [150] });
    await hook.append("alarm.sos");
    await until(() => expect(receiver.calls).toHaveLength(2));
    const [first, second] = receiver.calls;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(299);
  });

  it("is parked at once by 410", async () => {
    const receiver = await receive(410);
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    await world.startWorker();
    const [id] = await hook.append("alarm.sos");
    await until(async () =>
      expect(await world.deadLettersOf(hook)).toEqual([{ id, attempts: 1, last_error: "HTTP 410" }]),
    );
    expect(receiver.calls).toHaveLength(1);
  });

  it("is tried again after any other answer, redirects included", async () => {
    const statuses = [301, 302, 307, 400, 404, 429, 500, 503];
    const receiver = await receive(({ attempt, path }) => (attempt === 1 ? Number(path.split("/").at(-1)) : 204));
    const hooks = await Promise.all(
      statuses.map((status) => world.makeHook({ webhookUrl: `${receiver.url}/${status}` })),
    );
    await world.startWorker();
    for (const hook of hooks) await hook.append("alarm.sos");
    for (const hook of hooks) {
      await until(async () => expect((await world.attemptsOf(hook)).map(({ attempt }) => attempt)).toEqual([1, 2]));
      expect(await world.openOf(hook)).toEqual([]);
    }
  });

  it("is tried again after silence, a cut connection and a refused address", async () => {
    let lookups = 0;
    const resolve = async (): Promise<string[]> => [lookups++ === 0 ? "10.0.0.1" : "127.0.0.1"];
    const named = await openReceiver(authority, { names: ["hooks.example.org"], port: 0 });
    receivers.push(named);
    named.answer(({ attempt }) => {
      if (attempt === 2) return undefined;
      if (attempt === 3) named.cut();
      return 200;
    });
    const hook = await world.makeHook({ webhookUrl: `https://hooks.example.org:${named.port}/` });
    await world.startWorker({ resolve, timeoutMs: 200 });
    await hook.append("alarm.sos");
    await until(() => expect(named.calls.map(({ attempt }) => attempt)).toEqual([2, 3, 4]));
    await until(async () =>
      expect((await world.attemptsOf(hook)).map(({ error }) => error?.replace(/ \(.*/, ""))).toEqual([
        "address refused: 10.0.0.1 is not public",
        "no answer within 200 ms",
        expect.stringMatching(/^connection/),
        undefined,
      ]),
    );
  });
});

describe("rotation", () => {
  it("signs with both secrets for the overlap, and with the new one afterwards", async () => {
    const receiver = await receive();
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    const rotate = (until: Date) => world.db.run`
      update integrations set webhook_secret = 'whsec_bmV3', webhook_secret_previous = ${hook.secret},
        webhook_secret_previous_until = ${until} where id = ${hook.id}`;
    await rotate(new Date(Date.now() + 60_000));
    await world.startWorker();
    await hook.append("alarm.sos");
    await until(() => expect(receiver.calls).toHaveLength(1));
    await rotate(new Date(Date.now() - 1));
    await hook.append("alarm.sos");
    await until(() => expect(receiver.calls).toHaveLength(2));
    const [during, after] = receiver.calls;
    expect(during?.headers["x-signature"]).toBe(signatureOf("whsec_bmV3", during?.raw ?? Buffer.of()));
    expect(during?.headers["x-signature-previous"]).toBe(signatureOf(hook.secret, during?.raw ?? Buffer.of()));
    expect(String(during?.headers["webhook-signature"]).split(" ")).toHaveLength(2);
    expect(after?.headers["x-signature"]).toBe(signatureOf("whsec_bmV3", after?.raw ?? Buffer.of()));
    expect(after?.headers).not.toHaveProperty("x-signature-previous");
  });
});

describe("what is pushed", () => {
  it("is decided by types, devices, scopes and opt-in as they are at push", async () => {
    const receiver = await receive();
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    const early = await hook.append("alarm.sos", "location.update", "message.sent", "geofence.enter");
    const other = await hook.appendOf("490154203237526", "alarm.sos");
    await hook.set({ webhookEventTypes: ["alarm.sos", "message.sent", "geofence.enter"] });
    await hook.set({ webhookDeviceFilter: ["490154203237518"], messagingEnabled: false });
    await hook.set({ scopes: ["events:read", "locations:read", "messaging:read"] });
    await world.startWorker();
    const [last] = await hook.append("alarm.fall", "alarm.sos").then((ids) => ids.slice(1));
    await until(() => expect(idsOf(receiver)).toContain(last));
    expect(idsOf(receiver)).toEqual([early[0], last]);
    expect(idsOf(receiver)).not.toContain(other[0]);
  });

  it("is nothing that was made without a webhook, or before it was cleared", async () => {
    const receiver = await receive(500);
    const hook = await world.makeHook();
    await hook.append("alarm.sos");
    await hook.set({ webhookUrl: receiver.url });
    const [failing] = await hook.append("alarm.sos");
    await world.startWorker({ waitsMs: [100] });
    await until(async () => expect(await world.openOf(hook)).toMatchObject([{ id: failing }]));
    expect(new Set(idsOf(receiver))).toEqual(new Set([failing]));
    await hook.set({ webhookUrl: null });
    await until(async () => expect(await world.openOf(hook)).toEqual([]));
    await hook.append("alarm.sos");
    receiver.answer(200);
    receiver.calls.length = 0;
    await hook.set({ webhookUrl: receiver.url });
    const [fresh] = await hook.append("alarm.sos");
    await until(() => expect(idsOf(receiver)).toContain(fresh));
    expect(idsOf(receiver)).toEqual([fresh]);
    expect(await world.deadLettersOf(hook)).toEqual([]);
  });

  it("ends when the integration is disabled, and goes on with what comes after it is enabled", async () => {
    const receiver = await receive();
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    await world.startWorker();
    const [before] = await hook.append("alarm.sos");
    await until(() => expect(idsOf(receiver)).toEqual([before]));
    await hook.status("disabled");
    await hook.append("alarm.sos");
    await hook.status("active");
    const [after] = await hook.append("alarm.sos");
    await until(() => expect(idsOf(receiver)).toContain(after));
    expect(idsOf(receiver)).toEqual([before, after]);
  });

  it("goes to the URL of now", async () => {
    const [old, now] = [await receive(500), await receive(200)];
    const hook = await world.makeHook({ webhookUrl: old.url });
    await world.startWorker({ waitsMs: [200] });
    const [id] = await hook.append("alarm.sos");
    await until(() => expect(old.calls.length).toBeGreaterThan(0));
    await hook.set({ webhookUrl: now.url });
    await until(() => expect(now.calls).toMatchObject([{ id }]));
  });
});

describe("lanes", () => {
  it("deliver many rows, each once, and bring the cursor to the end of the log", async () => {
    const receiver = await receive();
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    const ids: string[] = [];
    for (let n = 0; n < 3; n++)
      ids.push(...(await hook.append(...Array.from({ length: 400 }, () => "alarm.sos" as const))));
    // On a busy machine nothing may take so long that it is rightly sent twice.
    await world.startWorker({ timeoutMs: 30_000, leaseMs: 60_000 });
    await until(() => expect(receiver.calls).toHaveLength(ids.length));
    expect(new Set(idsOf(receiver))).toEqual(new Set(ids));
    await until(async () => {
      const lane = await world.db.one<{ is_done: boolean }>`
        select (l.last_ms, l.last_seq) = (d.cursor_ms, d.cursor_seq) as is_done
        from outbound_lanes l join delivery_lanes d using (integration_id) where integration_id = ${hook.id}`;
      expect(lane.is_done).toBe(true);
    });
  });

  it("come to the end of a backlog although devices have to wait all the time, each row once", async () => {
    const receiver = await receive();
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    const ids = await hook.append(...Array<"alarm.sos">(60).fill("alarm.sos"));
    const packetWaits = new RecentWaits();
    packetWaits.note(1000);
    const waiting = setInterval(() => packetWaits.note(1000), 20);
    try {
      // For this worker the rows have waited for a minute.
      await world.startWorker({ packetWaits, clock: makeClock(60) });
      await until(() => expect(new Set(idsOf(receiver))).toEqual(new Set(ids)));
    } finally {
      clearInterval(waiting);
    }
    expect(receiver.calls).toHaveLength(60);
  });

  it("do not wait for a receiver that never answers", async () => {
    const [dead, quick] = [await receive(() => undefined), await receive()];
    const slow = await world.makeHook({ webhookUrl: dead.url });
    const hook = await world.makeHook({ webhookUrl: quick.url });
    await slow.append(...Array.from({ length: 300 }, () => "alarm.sos" as const));
    await world.startWorker({ timeoutMs: 10_000 });
    await until(() => expect(dead.calls.length).toBeGreaterThan(0));
    const ids = await hook.append(...Array.from({ length: 50 }, () => "alarm.sos" as const));
    await until(() => expect(new Set(idsOf(quick))).toEqual(new Set(ids)));
    expect(dead.calls.length).toBeLessThanOrEqual(32);
    dead.cut();
  });

  it("pass a slow row, and keep it on record", async () => {
    let held: string | undefined;
    const receiver = await receive((call) => {
      held ??= call.id;
      return call.id === held ? undefined : 200;
    });
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    await world.startWorker({ timeoutMs: 10_000 });
    const first = await hook.append("alarm.sos");
    await until(() => expect(held).toBe(first[0]));
    const rest: string[] = [];
    await until(async () => {
      rest.push(...(await hook.append("alarm.sos")));
      expect(await world.openOf(hook)).toMatchObject([{ id: held, attempts: 0 }]);
    });
    await until(() => expect(new Set(idsOf(receiver))).toEqual(new Set([...first, ...rest])));
    receiver.answer(200);
    receiver.cut();
    await until(() =>
      expect(receiver.calls.filter(({ id }) => id === held).map(({ attempt }) => attempt)).toEqual([1, 2]),
    );
  });

  it("move to another worker when one stops, and continue its count of attempts", async () => {
    const receiver = await receive(({ attempt }) => (attempt < 3 ? 500 : 200));
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    const first = await world.startWorker({ waitsMs: [20, 400, 20] });
    const [id] = await hook.append("alarm.sos");
    await until(async () => expect(await world.openOf(hook)).toMatchObject([{ attempts: 2 }]));
    await first.close();
    await world.startWorker();
    await until(() =>
      expect(receiver.calls.map((call) => [call.id, call.attempt])).toEqual([
        [id, 1],
        [id, 2],
        [id, 3],
      ]),
    );
  });

  it("are taken from a dead worker whose clock was far ahead", async () => {
    const receiver = await receive();
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    await world.db.run`
      insert into delivery_lanes (integration_id, organization_id, lease_owner, lease_until)
      values (${hook.id}, ${hook.organizationId}, ${hook.id}, ${new Date(Date.now() + 7_200_000)})`;
    const ids = await hook.append("alarm.sos");
    await world.startWorker();
    await until(() => expect(idsOf(receiver)).toEqual(ids));
  });

  it("find what nobody announced", async () => {
    const receiver = await receive();
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    await world.startWorker({ isDeaf: true });
    const [first] = await hook.append("alarm.sos");
    await until(() => expect(idsOf(receiver)).toEqual([first]));
    const [second] = await hook.append("alarm.sos");
    await until(() => expect(idsOf(receiver)).toEqual([first, second]));
  });

  it("treat no row after the cursor as new that is already on record", async () => {
    const receiver = await receive();
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    const [first, failed, dead, last] = await hook.append("alarm.sos", "alarm.sos", "alarm.sos", "alarm.sos");
    const { id, organizationId } = hook;
    // What a worker leaves that ended while its first row was in progress.
    await world.db.run`insert into delivery_lanes (integration_id, organization_id) values (${id}, ${organizationId})`;
    await world.db.run`
      insert into deliveries values (${id}, ${failed}, ${organizationId}, 1, 2, ${new Date(Date.now() + 300)})`;
    await world.db.run`insert into dead_letters values (${id}, ${dead}, ${organizationId}, 1, 'HTTP 410', now())`;
    await world.db.run`update delivery_lanes set retry_at = ${new Date(Date.now() + 300)} where integration_id = ${id}`;
    await world.startWorker();
    await until(() => expect(receiver.calls).toHaveLength(3));
    // A busy machine reaches the retry before the new rows.
    const attempts = Object.fromEntries(receiver.calls.map((call) => [call.id, call.attempt]));
    expect(attempts).toEqual({ [first as string]: 1, [last as string]: 1, [failed as string]: 3 });
  });

  it("skip a long time without a webhook", async () => {
    const receiver = await receive();
    const hook = await world.makeHook();
    for (let n = 0; n < 3; n++) await hook.append(...Array.from({ length: 1500 }, () => "alarm.sos" as const));
    await hook.set({ webhookUrl: receiver.url });
    const [id] = await hook.append("alarm.sos");
    await world.startWorker();
    await until(() => expect(idsOf(receiver)).toEqual([id]));
  });

  it("survive a database that goes away, and lose nothing", async () => {
    const proxy = await openDatabaseProxy(world.url);
    const receiver = await receive();
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    await world.startWorker({ url: proxy.url });
    const before = await hook.append("alarm.sos");
    await until(() => expect(idsOf(receiver)).toEqual(before));
    proxy.cut();
    const during = await hook.append(...Array.from({ length: 100 }, () => "alarm.sos" as const));
    proxy.mend();
    await until(() => expect(new Set(idsOf(receiver))).toEqual(new Set([...before, ...during])));
    await world.closeWorkers();
    await proxy.close();
  });
});
