import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { redriveDeadLetters, redriveInPieces } from "../../src/outbound/dead-letter-store.ts";
import { makeAuthority } from "../support/certificates.ts";
import { type DeliveryWorld, openDeliveryWorld, type TestHook } from "../support/delivery.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";
import { testSecretKeyText } from "../support/secrets.ts";
import { type Finished, type RunningVigil, runVigil, startVigil } from "../support/vigil-process.ts";

const authority = makeAuthority();
let world: DeliveryWorld;
let receiver: Receiver;
let folder: string;
let env: Record<string, string>;
const running: RunningVigil[] = [];
/** Each of these starts the program several times. */
vi.setConfig({ testTimeout: 90_000 });

beforeAll(async () => {
  world = await openDeliveryWorld(authority);
  receiver = await openReceiver(authority);
  folder = await mkdtemp(join(tmpdir(), "vigil-webhooks-"));
  await writeFile(join(folder, "ca.pem"), authority.ca);
  await writeFile(join(folder, "test.key"), testSecretKeyText, { mode: 0o600 });
  env = {
    DATABASE_URL: world.url,
    VIGIL_LOG_LEVEL: "warn",
    VIGIL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    VIGIL_WEBHOOK_CA_FILE: join(folder, "ca.pem"),
    VIGIL_WEBHOOK_BACKOFF: "0.05",
    VIGIL_SECRET_KEY_FILE: join(folder, "test.key"),
  };
  // Builds, so that the line about it is not on the stderr of a test.
  await runVigil(["--version"]);
}, 120_000);
afterAll(async () => {
  for (const service of running) await service.kill("SIGKILL");
  await receiver.close();
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

const until = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 25_000, interval: 20 });

async function startWorkers(count: number): Promise<void> {
  const args = ["--roles", "worker", "--data-dir", folder];
  running.push(...(await Promise.all(Array.from({ length: count }, () => startVigil(args, env)))));
}

const vigil = (...args: string[]): Promise<Finished> => runVigil([...args, "--data-dir", folder, "--json"], env);

async function answerOf<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await vigil(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as T;
}

const arrived = (hook: TestHook): Map<string, number[]> => {
  const attempts = new Map<string, number[]>();
  for (const { id, attempt, raw } of receiver.calls) {
    const envelope = JSON.parse(raw.toString()) as { partner_integration_id: string };
    if (envelope.partner_integration_id === hook.id) attempts.set(id, [...(attempts.get(id) ?? []), attempt]);
  }
  return attempts;
};

describe("dead letters and tests on the command line", () => {
  it("shows, redrives and delivers them again from attempt 1, with the service stopped and running", async () => {
    receiver.answer(410);
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    const ids = await hook.append("alarm.sos", "alarm.fall");
    const worker = await world.startWorker();
    await until(async () => expect(await world.deadLettersOf(hook)).toHaveLength(2));
    await worker.close();
    const letters = await answerOf<object[]>("webhooks", "deadletter", "list", "--integration", hook.id);
    expect(letters).toEqual(
      ["alarm.sos", "alarm.fall"].map((type, index) => ({
        id: ids[index],
        type,
        device_uid: "490154203237518",
        occurred_at: expect.stringMatching(/^\d{4}-.*Z$/),
        attempts: 1,
        last_error: "HTTP 410",
        parked_at: expect.stringMatching(/^\d{4}-.*Z$/),
      })),
    );
    receiver.answer(200);
    const redrive = ["webhooks", "deadletter", "redrive", "--integration", hook.id];
    expect(await answerOf(...redrive, "--id", ids[1] as string)).toEqual({ redriven: 1 });
    expect(await vigil(...redrive, "--id", ids[1] as string)).toMatchObject({ code: 1, stdout: "" });
    await startWorkers(1);
    await until(() => expect(arrived(hook).get(ids[1] as string)).toEqual([1, 1]));
    expect(await answerOf(...redrive)).toEqual({ redriven: 1 });
    await until(() => expect(arrived(hook).get(ids[0] as string)).toEqual([1, 1]));
    const bytes = new Set(receiver.calls.filter(({ id }) => id === ids[0]).map(({ raw }) => raw.toString()));
    expect(bytes.size).toBe(1);
    expect(await world.deadLettersOf(hook)).toEqual([]);
  });

  it("shows all of them, however many", async () => {
    const hook = await world.makeHook();
    const rows = await hook.append(
      ...Array.from({ length: 10_001 }, (_, n) => (n < 9000 ? ("alarm.sos" as const) : ("alarm.low_battery" as const))),
    );
    await world.db.run`
      insert into dead_letters select integration_id, id, organization_id, 5, 'HTTP 500', occurred_at
      from outbound_events where integration_id = ${hook.id}`;
    const list = ["webhooks", "deadletter", "list", "--integration", hook.id];
    const letters = await answerOf<{ id: string }[]>(...list);
    expect(letters.map(({ id }) => id)).toEqual(rows);
    const { stdout } = await runVigil([...list, "--data-dir", folder], env);
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(10_002);
    expect(new Set(lines.map((line) => line.search(/LAST_ERROR|HTTP 500/))).size).toBe(1);
    expect(await answerOf(...list, "--id", rows[7] as string)).toMatchObject([{ id: rows[7], type: "alarm.sos" }]);
  });

  it("keeps them when the webhook is cleared just before they are redriven", async () => {
    const hook = await world.makeHook();
    const [id] = await hook.append("alarm.sos");
    const { organizationId } = hook;
    await world.db.run`insert into dead_letters values (${hook.id}, ${id}, ${organizationId}, 1, 'HTTP 410', now())`;
    const now = new Date();
    const redriven = await redriveInPieces(
      (work) => world.db.transaction(work),
      (tx, after) => redriveDeadLetters(tx, organizationId, hook.id, { ids: undefined, after, now }),
    );
    expect(redriven).toBe(0);
    expect(await world.deadLettersOf(hook)).toHaveLength(1);
  });

  it("sends one signed sample, and says what came of it", async () => {
    const hook = await world.makeHook({ webhookUrl: receiver.url, webhookEventTypes: ["alarm.sos"] });
    const before = receiver.calls.length;
    const test = ["webhooks", "test", "--integration", hook.id];
    const sent = await answerOf<{ event_id: string }>(...test);
    expect(sent).toEqual({
      event_id: expect.any(String),
      type: "webhook.test",
      delivered: true,
      status_code: 200,
      duration_ms: expect.any(Number),
      error: null,
    });
    const [call] = receiver.calls.slice(before);
    expect(call?.headers).toMatchObject({ "x-event-type": "webhook.test", "x-delivery-attempt": "1" });
    expect(JSON.parse(call?.raw.toString() ?? "")).toMatchObject({
      id: sent.event_id,
      type: "webhook.test",
      partner_integration_id: hook.id,
      device: { uid: "000000000000000", imei: "000000000000000" },
      data: { message: "Test event", test: true },
    });
    receiver.answer(500);
    const failed = await vigil(...test, "--type", "alarm.sos");
    receiver.answer(200);
    expect(failed).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(failed.stdout)).toMatchObject({ delivered: false, status_code: 500, error: "HTTP 500" });
    expect(receiver.calls.length - before).toBe(2);
    const refused = await vigil(...test, "--type", "alarm.fall");
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/not subscribed to alarm\.fall/);
  });
});

describe("workers", () => {
  it("share the lanes, and take over those of one that was killed", async () => {
    await startWorkers(2 - running.length);
    const hooks = await Promise.all(Array.from({ length: 6 }, () => world.makeHook({ webhookUrl: receiver.url })));
    const expected = new Map<TestHook, string[]>();
    const feed = async (): Promise<void> => {
      for (const hook of hooks) {
        const ids = await hook.append(...Array.from({ length: 20 }, () => "alarm.sos" as const));
        expected.set(hook, [...(expected.get(hook) ?? []), ...ids]);
      }
    };
    const allArrived = (): void => {
      for (const [hook, ids] of expected) expect(new Set(arrived(hook).keys())).toEqual(new Set(ids));
    };
    await feed();
    await until(allArrived);
    await running.shift()?.kill("SIGKILL");
    await feed();
    await until(allArrived);
    const owners = await world.db.many<{ count: number }>`
      select count(*) as count from delivery_lanes where lease_until > now() group by lease_owner`;
    expect(owners).toHaveLength(1);
  });
});
