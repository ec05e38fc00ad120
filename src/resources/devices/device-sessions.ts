import type { Database, Db, Tx } from "../../db/database.ts";
import { notify } from "../../db/listener.ts";
import { sql } from "../../db/sql.ts";
import type { DeviceRow } from "./device-record.ts";

/**
 * Which process holds a device's connection. The newest connection wins: it raises the epoch, in the session row and in the
 * state row, and packets of an older epoch are refused there.
 */
export interface SessionClaim {
  deviceId: string;
  organizationId: string;
  protocol: string;
  remoteAddr: string;
  /** What counts as one place, as networkOf names it. */
  network: string;
  transport: "tcp" | "udp";
}

export interface ClaimedSession {
  device_id: string;
  epoch: number;
  previous_node_id: string | null;
  /** Of an open connection that this one has taken over, from another network or by a datagram; else null. */
  previous_remote_addr: string | null;
  /** When that happened the last times, the oldest first. */
  takeovers: Date[];
  last_location: DeviceRow["last_location"];
  last_status: DeviceRow["last_status"];
  newest_report_at: Date | null;
}

/** More takeovers than this within the window are a conflict (section 30). */
const maxTakeovers = 5;
const takeoverWindowMs = 10 * 60_000;
const conflictEveryMs = 60 * 60_000;

export const isConflict = ({ takeovers }: Pick<ClaimedSession, "takeovers">, nowMs: number): boolean =>
  takeovers.length > maxTakeovers && nowMs - (takeovers.at(-maxTakeovers - 1) as Date).getTime() <= takeoverWindowMs;

/** Hears which of its sessions are over: "device epoch", where everything below the epoch is. */
export const gatewayChannel = (nodeId: string): string => `vigil_gateway_${nodeId}`;

const byDevice = <T extends { deviceId: string }>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => (a.deviceId < b.deviceId ? -1 : 1));

/** The address of a datagram proves nothing, so one that takes over a TCP connection counts as being from elsewhere. */
const isTakenOver = sql`s.disconnected_at is null and s.network <> ''
  and (s.network <> excluded.network or (s.transport = 'tcp' and excluded.transport = 'udp'))`;

/** Each device once. Rows are locked in the order of device ids, as ingest does. */
export function claimSessions(
  db: Database,
  nodeId: string,
  claims: readonly SessionClaim[],
  now: Date,
): Promise<ClaimedSession[]> {
  const rows = byDevice(claims);
  return db.transaction(async (tx) => {
    const sessions = await tx.many<ClaimedSession>`
      insert into device_sessions as s
        (device_id, organization_id, node_id, epoch, protocol, remote_addr, network, transport, connected_at)
      select d, o, ${nodeId}, 1, p, a, w, t, ${now}
      from unnest(${rows.map((row) => row.deviceId)}::uuid[], ${rows.map((row) => row.organizationId)}::uuid[],
        ${rows.map((row) => row.protocol)}::text[], ${rows.map((row) => row.remoteAddr)}::text[],
        ${rows.map((row) => row.network)}::text[], ${rows.map((row) => row.transport)}::text[]) as n(d, o, p, a, w, t)
      on conflict (device_id) do update set organization_id = excluded.organization_id, node_id = excluded.node_id,
        epoch = s.epoch + 1, protocol = excluded.protocol, remote_addr = excluded.remote_addr,
        network = excluded.network, transport = excluded.transport, connected_at = excluded.connected_at, disconnected_at = null,
        previous_node_id = case when s.disconnected_at is null then s.node_id end,
        previous_remote_addr = case when ${isTakenOver} then s.remote_addr end,
        takeovers = case when ${isTakenOver}
          then (s.takeovers || excluded.connected_at)[greatest(1, cardinality(s.takeovers) + 1 - ${maxTakeovers}):]
          else s.takeovers end
      returning device_id, epoch, previous_node_id, previous_remote_addr, takeovers`;
    const epochs = new Map(sessions.map((session) => [session.device_id, session]));
    const states = await tx.many<ClaimedSession>`
      insert into device_state as s (device_id, organization_id, session_epoch, is_online, last_status)
      select d, o, e, false, '{}'
      from unnest(${rows.map((row) => row.deviceId)}::uuid[], ${rows.map((row) => row.organizationId)}::uuid[],
        ${rows.map((row) => epochs.get(row.deviceId)?.epoch)}::int8[]) as n(d, o, e)
      on conflict (device_id) do update set session_epoch = excluded.session_epoch
      returning device_id, session_epoch as epoch, last_location, last_status, newest_report_at`;
    for (const { device_id, epoch, previous_node_id } of sessions) {
      if (previous_node_id === null || previous_node_id === nodeId) continue;
      await notify(tx, gatewayChannel(previous_node_id), `${device_id} ${epoch}`);
    }
    return states.map((state) => ({ ...state, ...(epochs.get(state.device_id) as ClaimedSession) }));
  });
}

/** True: no conflict of the device was reported within the hour, so this one is reported. */
export async function claimConflict(tx: Tx, organizationId: string, deviceId: string, now: Date): Promise<boolean> {
  const claimed = await tx.run`
    update device_sessions set conflict_at = ${now}
    where organization_id = ${organizationId} and device_id = ${deviceId}
      and (conflict_at is null or conflict_at <= ${new Date(now.getTime() - conflictEveryMs)})`;
  return claimed > 0;
}

/** Of sessions that are still the newest of their devices. */
export const endSessions = (
  db: Db,
  sessions: readonly { deviceId: string; epoch: number }[],
  now: Date,
): Promise<number> => {
  const rows = byDevice(sessions);
  return db.run`
    update device_sessions s set disconnected_at = ${now}
    from unnest(${rows.map((row) => row.deviceId)}::uuid[], ${rows.map((row) => row.epoch)}::int8[]) as n(device_id, epoch)
    where s.device_id = n.device_id and s.epoch = n.epoch and s.disconnected_at is null`;
};

/** Ends the connection of a device, wherever it is; for a device that is deleted or changes what its connection rests on. */
export async function dropSession(tx: Tx, organizationId: string, deviceId: string, now: Date): Promise<void> {
  const session = await tx.maybeOne<{ node_id: string; epoch: number }>`
    update device_sessions set epoch = epoch + 1, disconnected_at = ${now}
    where organization_id = ${organizationId} and device_id = ${deviceId} and disconnected_at is null
    returning node_id, epoch`;
  if (!session) return;
  await tx.run`
    update device_state set session_epoch = ${session.epoch}
    where organization_id = ${organizationId} and device_id = ${deviceId}`;
  await notify(tx, gatewayChannel(session.node_id), `${deviceId} ${session.epoch}`);
}

/** Hears which of its devices may have something waiting. A wake-up that is lost is made up for by a sweep. */
export const downlinkChannel = (nodeId: string): string => `vigil_downlink_${nodeId}`;

/** Tells the process that holds the device's connection, if any, that something was written for it. */
export async function wakeDevice(tx: Tx, organizationId: string, deviceId: string): Promise<void> {
  const session = await tx.maybeOne<{ node_id: string }>`
    select node_id from device_sessions
    where organization_id = ${organizationId} and device_id = ${deviceId} and disconnected_at is null`;
  if (session) await notify(tx, downlinkChannel(session.node_id), deviceId);
}

/** Says that the process lives, until then. False: it was not known, or was taken for dead. */
export async function renewNode(db: Db, nodeId: string, now: Date, leaseUntil: Date): Promise<boolean> {
  const renewed = await db.run`update gateway_nodes set lease_until = ${leaseUntil} where id = ${nodeId}`;
  if (renewed > 0) return true;
  await db.run`
    insert into gateway_nodes (id, started_at, lease_until) values (${nodeId}, ${now}, ${leaseUntil})
    on conflict (id) do update set lease_until = excluded.lease_until`;
  return false;
}

/** Of a process that was taken for dead and lives. Sessions that another one has overtaken stay with it. */
export const reopenSessions = (
  db: Db,
  nodeId: string,
  sessions: readonly { deviceId: string; epoch: number }[],
): Promise<number> => {
  const rows = byDevice(sessions);
  return db.run`
    update device_sessions s set disconnected_at = null
    from unnest(${rows.map((row) => row.deviceId)}::uuid[], ${rows.map((row) => row.epoch)}::int8[]) as n(device_id, epoch)
    where s.device_id = n.device_id and s.epoch = n.epoch and s.node_id = ${nodeId} and s.disconnected_at is not null`;
};

export async function removeNode(db: Db, nodeId: string, now: Date): Promise<void> {
  await db.run`update device_sessions set disconnected_at = ${now} where node_id = ${nodeId} and disconnected_at is null`;
  await db.run`delete from gateway_nodes where id = ${nodeId}`;
}

/** Sessions of processes that died are over; their devices connect elsewhere. */
export async function removeDeadNodes(db: Db, now: Date): Promise<void> {
  const dead = await db.many<{ id: string }>`select id from gateway_nodes where lease_until < ${now}`;
  for (const { id } of dead) await removeNode(db, id, now);
}
