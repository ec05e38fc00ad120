import type pg from "pg";
import type { CitusCluster, ClusterNode } from "../support/citus-cluster.ts";
import type { NumberedDevice } from "./numbered-device.ts";
import { untilTrue } from "./partner.ts";

const absenceMs = 60_000;
/** Until every gateway has noticed, and has answered what it had stored before. */
const noticeMs = 5000;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Stops a database worker for a minute. True: only its devices waited, and they went on by themselves. */
export async function stopForAMinute(
  client: pg.Client,
  nodes: CitusCluster,
  fleet: readonly NumberedDevice[],
): Promise<boolean> {
  const [{ name, port }] = nodes.workers as [ClusterNode];
  const { rows } = await client.query<{ uid: string }>(
    `select d.uid from devices d
     join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column('locations', d.id)
     join pg_dist_node n on n.groupid = p.groupid where n.nodeport = $1`,
    [port],
  );
  const uids = new Set(rows.map(({ uid }) => uid));
  const away = fleet.filter(({ uid }) => uids.has(uid));
  const others = fleet.filter(({ uid }) => !uids.has(uid));
  await nodes.stop(name);
  await pause(noticeMs);
  const before = countsOf(fleet);
  await pause(absenceMs - noticeMs);
  const between = countsOf(fleet);
  await nodes.start(name);
  const startedMs = Date.now();
  const gains = (devices: readonly NumberedDevice[], from: ReadonlyMap<NumberedDevice, number>): number[] =>
    devices.map((device) => device.acknowledged.size - (from.get(device) ?? 0));
  const waited = away.filter((device) => between.get(device) === before.get(device));
  const moved = others.filter((device) => (between.get(device) ?? 0) > (before.get(device) ?? 0));
  const stored = others.reduce((sum, device) => sum + (between.get(device) ?? 0) - (before.get(device) ?? 0), 0);
  await untilTrue("the devices of the worker are answered again", () => gains(away, between).every((gain) => gain > 0));
  console.log(
    `  ${name} stopped for a minute: ${waited.length} of its ${away.length} devices waited, ${moved.length} of ${others.length} others went on with ${stored} packets, all were back ${Date.now() - startedMs} ms after its start`,
  );
  return waited.length === away.length && moved.length === others.length;
}

const countsOf = (fleet: readonly NumberedDevice[]): Map<NumberedDevice, number> =>
  new Map(fleet.map((device) => [device, device.acknowledged.size]));
