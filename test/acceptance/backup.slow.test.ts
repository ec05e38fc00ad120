import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { withEmbedded } from "../support/embedded-client.ts";
import { registerFleet } from "../support/fleet.ts";
import { type SteadyWatch, startSteadyWatch } from "../support/steady-watch.ts";
import {
  killVigil,
  makeCredentials,
  type RunningVigil,
  runVigil,
  startVigil,
  tempFolder,
  vigilJson,
} from "../support/vigil-process.ts";

interface Restored {
  rotate: { webhook_secrets: { integration_id: string }[]; second_factors: string[]; session_key: boolean };
  valid_again: Record<string, number>;
  review: { client_secrets: { name: string; org: string }[] };
  previous: string | null;
}

const quiet = { VIGIL_GATEWAY_HOST: "127.0.0.1" };
const minuteMs = 60_000;

describe("a backup under load", { timeout: 600_000 }, () => {
  let folder: Awaited<ReturnType<typeof tempFolder>>;
  let service: RunningVigil | undefined;
  let watches: SteadyWatch[] = [];
  const path = (name: string): string => join(folder.path, name);
  const inFolder = (name: string): string[] => ["--data-dir", path(name)];
  /** Acknowledged before the backup began. */
  let before: Map<string, number[]>;

  beforeAll(async () => {
    folder = await tempFolder();
    service = await startVigil(inFolder("data"), quiet);
    const { id } = await makeCredentials(inFolder("data"));
    await vigilJson(["integration", "set", id, "--webhook-url", "https://partner.example/hook", ...inFolder("data")]);
    const uids = await withEmbedded(path("data"), (client) => registerFleet(client, 6));
    const start = Date.now() - 120 * minuteMs;
    const times = Array.from({ length: 5000 }, (_, index) => start + index * 1000);
    const { gateway } = service;
    watches = uids.map((uid) => startSteadyWatch(gateway, uid, times));
    await vi.waitFor(() => expect(Math.min(...watches.map((one) => one.acknowledged.length))).toBeGreaterThan(10), {
      timeout: 120_000,
      interval: 100,
    });
    before = new Map(watches.map((one) => [one.uid, [...one.acknowledged]]));
    const written = await runVigil(["backup", path("one.tar.gz"), ...inFolder("data"), "--json"]);
    expect(written).toMatchObject({ code: 0 });
    for (const one of watches) await one.stop();
    expect(watches.every((one) => one.acknowledged.length > (before.get(one.uid)?.length ?? 0))).toBe(true);
  }, 600_000);
  afterAll(async () => {
    for (const one of watches) await one.stop().catch(() => undefined);
    await service?.kill("SIGKILL");
    await folder.remove();
  });

  async function storedTimes(name: string): Promise<Map<string, number[]>> {
    return withEmbedded(path(name), async (client) => {
      const { rows } = await client.query<{ uid: string; at: Date }>(
        "select d.uid, l.device_ts as at from locations l join devices d on d.id = l.device_id order by d.uid, l.device_ts",
      );
      return groupTimes(rows);
    });
  }

  function groupTimes(rows: readonly { uid: string; at: Date }[]): Map<string, number[]> {
    const times = new Map<string, number[]>();
    for (const { uid, at } of rows) times.set(uid, [...(times.get(uid) ?? []), at.getTime()]);
    return times;
  }

  it("holds every packet that was acknowledged before it began, and devices that resend make no duplicates", async () => {
    expect(await vigilJson(["backup", "--verify", path("one.tar.gz")])).toMatchObject({ ok: true, format: 1 });
    await mkdir(path("other"));
    await cp(path("data/secret.key"), path("other/secret.key"));
    const restored = await vigilJson<Restored>(["restore", path("one.tar.gz"), ...inFolder("other")]);
    expect(restored.rotate).toEqual({ webhook_secrets: [], second_factors: [], session_key: false });
    expect(restored.review.client_secrets).toMatchObject([{ name: "App" }]);
    const stored = await storedTimes("other");
    for (const [uid, times] of before) {
      const seconds = times.map((time) => Math.floor(time / 1000) * 1000);
      expect(stored.get(uid)).toEqual(expect.arrayContaining(seconds));
    }
    const second = await startVigil(inFolder("other"), quiet);
    try {
      for (const [uid, times] of before) {
        const again = startSteadyWatch(second.gateway, uid, times.slice(-5));
        await vi.waitFor(() => expect(again.acknowledged).toHaveLength(5), { timeout: 120_000, interval: 100 });
        await again.stop();
      }
    } finally {
      await second.kill("SIGTERM");
    }
    expect(await storedTimes("other")).toEqual(stored);
  });

  it("is restored without the key, says what must be rotated, and the service starts", async () => {
    const restored = await vigilJson<Restored>(["restore", path("one.tar.gz"), ...inFolder("keyless")]);
    expect(restored.rotate).toMatchObject({
      webhook_secrets: [{ integration_id: expect.any(String) }],
      session_key: true,
    });
    const [lost] = restored.rotate.webhook_secrets;
    const rotate = ["integration", "rotate-webhook-secret", lost?.integration_id ?? "", ...inFolder("keyless")];
    expect(await vigilJson(rotate)).toMatchObject({ webhook_secret: expect.stringMatching(/^whsec_/) });
    const second = await startVigil(inFolder("keyless"), quiet);
    const metrics = await (await fetch(`${second.ops}/metrics`)).text();
    expect(metrics).toMatch(/vigil_last_backup_timestamp_seconds \d+/);
    expect(await second.kill("SIGTERM")).toBe(0);
  });

  it("is refused where there is data, and with --force the data is moved aside", async () => {
    const args = ["restore", path("one.tar.gz"), ...inFolder("keyless")];
    expect(await runVigil(args)).toMatchObject({ code: 1, stderr: expect.stringContaining("already has a database") });
    const running = await runVigil(["restore", path("one.tar.gz"), "--force", ...inFolder("data")]);
    expect(running).toMatchObject({ code: 1, stderr: expect.stringContaining("stop the service first") });
    const restored = await vigilJson<Restored>([...args, "--force", "--revoke-sessions"]);
    expect(existsSync(restored.previous ?? "")).toBe(true);
    expect((await storedTimes("keyless")).size).toBe(before.size);
  });

  it("changes nothing when it is damaged, wherever that is", async () => {
    const whole = readFileSync(path("one.tar.gz"));
    const flipped = Buffer.from(whole);
    flipped.writeUInt8((flipped.readUInt8(whole.length >> 1) ^ 0x10) & 0xff, whole.length >> 1);
    const damages = {
      cut: whole.subarray(0, -20),
      half: whole.subarray(0, whole.length >> 1),
      flipped,
      empty: Buffer.alloc(0),
    };
    for (const [name, bytes] of Object.entries(damages)) {
      writeFileSync(path(`${name}.tar.gz`), bytes);
      const verified = await runVigil(["backup", "--verify", path(`${name}.tar.gz`)]);
      expect([name, verified.code, verified.stderr]).toEqual([
        name,
        1,
        expect.stringContaining("not a complete backup"),
      ]);
    }
    const refused = await runVigil(["restore", path("flipped.tar.gz"), ...inFolder("untouched")]);
    expect([refused.code, existsSync(path("untouched"))]).toEqual([1, false]);
  });

  it("leaves no broken file and no broken folder when it is killed", async () => {
    for (const [round, delayMs] of [1500, 4000, 7000].entries()) {
      const file = `killed-${round}.tar.gz`;
      await killVigil(["backup", path(file), ...inFolder("data")], delayMs);
      if (existsSync(path(file))) expect((await runVigil(["backup", "--verify", path(file)])).code).toBe(0);
      const target = `killed-${round}`;
      await killVigil(["restore", path("one.tar.gz"), ...inFolder(target)], delayMs);
      if (!existsSync(path(`${target}/postgres/cluster`))) {
        await vigilJson(["restore", path("one.tar.gz"), ...inFolder(target)]);
      }
      expect((await storedTimes(target)).size).toBe(before.size);
      expect(readdirSync(path(`${target}/postgres`)).filter((name) => name.includes(".new-"))).toEqual([]);
    }
    expect(statSync(path("data/postgres/cluster")).isDirectory()).toBe(true);
  });
});
