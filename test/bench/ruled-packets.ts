import type pg from "pg";
import { withEmbedded } from "../support/embedded-client.ts";
import { registerFleet } from "../support/fleet.ts";
import { startVigil, tempFolder } from "../support/vigil-process.ts";
import { load } from "./load-process.ts";
import { median, type Row } from "./report.ts";

const connections = 1000;
const rounds = 3;
const roundMs = 5000;
const fencesPerDevice = 10;
const metrics = ["bat", "gsm_signal", "satellites", "hr", "spo2"];
const firstUids = { ruled: 862_000_000_000_000, free: 863_000_000_000_000 };

/** Ten fences around the place of the load, the device within three of them, and five thresholds, for each device. */
async function giveRules(client: pg.Client, uids: readonly string[]): Promise<void> {
  await client.query("begin");
  await client.query(
    `create temp table ruled on commit drop as
     select d.id as device_id, d.organization_id, n, gen_random_uuid() as fence_id
     from devices d cross join generate_series(0, $2 - 1) as n where d.uid = any($1)`,
    [uids, fencesPerDevice],
  );
  await client.query(
    `insert into geofences (id, organization_id, name, description, lat, lng, radius_m, trigger_on_enter, trigger_on_exit,
       trigger_on_dwell, dwell_threshold_seconds, is_active, scope, shape_revision, search, created_at, updated_at)
     select fence_id, organization_id, 'Place ' || n, '', 41.902782 + 0.01 * greatest(0, n - 2), 12.496367, 150, true, true, true,
       86400, true, 'device', 1, 'place', now(), now() from ruled`,
  );
  await client.query(
    `insert into geofence_devices (geofence_id, device_id, organization_id, linked_at)
     select fence_id, device_id, organization_id, now() from ruled`,
  );
  await client.query(
    `insert into alert_thresholds (id, organization_id, scope, device_id, metric_key, low, high, severity, override_mode,
       is_active, min_duration_seconds, clear_margin, cooldown_seconds, revision, created_at, updated_at)
     select gen_random_uuid(), organization_id, 15, device_id, m, 1, 1000, 20, 10, true, 0, 0, 300, 1, now(), now()
     from ruled cross join unnest($1::text[]) as m where n = 0`,
    [metrics],
  );
  await client.query(
    "insert into rule_versions (organization_id, version) select distinct organization_id, 1 from ruled",
  );
  await client.query("commit");
}

/**
 * Durable packets of devices with rules against those of devices without, of one service. Packets carry times of the last quarter
 * of an hour, a second apart: late ones would meet no rule. Each run begins where the one before may have ended.
 */
export async function benchRuledPackets(): Promise<Row[]> {
  const folder = await tempFolder();
  const service = await startVigil(["--data-dir", folder.path], {
    VIGIL_LOG_LEVEL: process.env.VIGIL_LOG_LEVEL ?? "warn",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_GATEWAY_PACKETS_PER_MINUTE: "1000000",
    VIGIL_GATEWAY_NEW_PER_ADDRESS_PER_MINUTE: "1000000",
  });
  const port = Number(service.gateway.split(":").at(-1));
  try {
    await withEmbedded(folder.path, async (client) => {
      await giveRules(client, await registerFleet(client, connections, firstUids.ruled));
      await registerFleet(client, connections, firstUids.free);
    });
    const runs: Record<keyof typeof firstUids, number> = { ruled: 0, free: 0 };
    const startMs = Math.floor(Date.now() / 1000) * 1000 - 14 * 60_000;
    const run = async (kind: keyof typeof firstUids, durationMs: number): Promise<number> => {
      const more = [firstUids[kind], startMs + runs[kind]++ * 150_000];
      return (await load({ port }, connections, durationMs, 0, undefined, more)).perSecond;
    };
    for (const kind of ["ruled", "free"] as const) await run(kind, 2000);
    const before = await evaluationsOf(service.ops);
    const values = { ruled: [] as number[], free: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      values.ruled.push(await run("ruled", roundMs));
      values.free.push(await run("free", roundMs));
    }
    const evaluations = (await evaluationsOf(service.ops)) - before;
    const packets = values.ruled.reduce((sum, perSecond) => sum + (perSecond * roundMs) / 1000, 0);
    if (evaluations < packets * 2) throw new Error("packets met no rules: their times were late or in the wrong order");
    return [
      {
        what: `packets with ${fencesPerDevice} fences and ${metrics.length} thresholds per device (bare: without rules)`,
        ours: median(values.ruled),
        bare: median(values.free),
        unit: "packets/s",
        ratios: values.ruled.map((value, round) => value / (values.free[round] as number)),
        goal: 0.8,
      },
    ];
  } finally {
    await service.kill("SIGTERM");
    await folder.remove();
  }
}

async function evaluationsOf(ops: string): Promise<number> {
  const text = await (await fetch(`${ops}/metrics`)).text();
  return Number(/^vigil_rules_evaluations_total (\S+)/m.exec(text)?.[1] ?? 0);
}
