import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { type RunningService, startService } from "../../src/service.ts";
import { makeDevice } from "../support/fixtures.ts";
import { makeHistoryPartitions } from "../support/history.ts";
import { openIwWatch } from "../support/iw-watch.ts";
import { testSecretKeyText } from "../support/secrets.ts";
import { makeIntegration, makeOrganization, openPartnerApi, type PartnerApi } from "../support/world.ts";

/** One organization searches the history of a device, forty times at once, over and over. */
let partner: PartnerApi;
let service: RunningService;
let folder: string;
let uid: string;
const rows = 150_000;

beforeAll(async () => {
  partner = await openPartnerApi({ isPrivate: true });
  const { api, organization } = partner;
  await makeHistoryPartitions(api);
  const device = await makeDevice(api, organization);
  uid = device.uid;
  await api.db.run`
    insert into telemetry (device_id, ts, id, organization_id, received_at, data)
    select ${device.id}, now() - make_interval(secs => n * 15), gen_random_uuid(), ${organization.id}, now(),
      jsonb_build_object('steps', n, 'heart_rate', 60 + n % 40, 'note', repeat(md5(n::text), 4))
    from generate_series(1, ${rows}::int) n`;
  folder = mkdtempSync(join(tmpdir(), "vigil-attack-"));
  writeFileSync(join(folder, "key"), testSecretKeyText, { mode: 0o600 });
  const ports = { port: "0", gatewayPort: "0", opsPort: "0" };
  const env = { DATABASE_URL: api.url, VIGIL_SECRET_KEY_FILE: join(folder, "key"), VIGIL_GATEWAY_HOST: "127.0.0.1" };
  service = await startService(loadConfig({ dataDir: folder, ...ports }, env), makeLogger("silent"));
});
afterAll(async () => {
  await service?.close();
  await partner.api.close();
  rmSync(folder, { recursive: true, force: true });
});

const get = async (path: string, token: string): Promise<{ status: number; code: unknown; ms: number }> => {
  const startedMs = performance.now();
  const answer = await fetch(`${service.http}${path}`, { headers: { authorization: `Bearer ${token}` } });
  const body = (await answer.json()) as { code?: string };
  return { status: answer.status, code: body.code, ms: Math.round(performance.now() - startedMs) };
};

describe("forty searches at once", () => {
  it("give no other organization a 503, and delay no login of a device", async () => {
    const { api, token } = partner;
    const other = await makeOrganization(api);
    const { token: otherToken } = await makeIntegration(api, other);
    const imeis = await Promise.all(Array.from({ length: 10 }, async () => (await makeDevice(api, other)).uid));
    const gatewayPort = Number(service.gateway.split(":").at(-1));

    const search = (): ReturnType<typeof get> => get(`/api/v1/devices/${uid}/telemetry/?search=zq`, token);
    let isOver = false;
    const searches: Awaited<ReturnType<typeof get>>[] = [];
    const attackers = Array.from({ length: 40 }, async () => {
      while (!isOver) searches.push(await search());
    });

    const calls: Awaited<ReturnType<typeof get>>[] = [];
    const logins: number[] = [];
    for (const imei of imeis) {
      calls.push(await get("/api/v1/devices/", otherToken));
      const startedMs = performance.now();
      const watch = await openIwWatch(gatewayPort, imei);
      logins.push(Math.round(performance.now() - startedMs));
      watch.close();
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    isOver = true;
    await Promise.all(attackers);

    const maxOf = (values: readonly number[]): number => Math.max(...values);
    const count = (status: number): number => searches.filter((one) => one.status === status).length;
    console.log(
      `searches: ${count(200)} answered, ${count(503)} refused, ${maxOf(searches.map(({ ms }) => ms))} ms at most; ` +
        `calls of another: ${maxOf(calls.map(({ ms }) => ms))} ms at most; logins: ${maxOf(logins)} ms at most`,
    );
    expect(calls.map(({ status }) => status)).toEqual(calls.map(() => 200));
    expect(maxOf(calls.map(({ ms }) => ms))).toBeLessThan(5000);
    expect(maxOf(logins)).toBeLessThan(5000);
    for (const one of searches) expect([200, 503]).toContain(one.status);
    for (const one of searches.filter(({ status }) => status === 503)) expect(one.code).toBe("too_busy");
  });
});
