import type { Db } from "../../db/database.ts";

/** What a process measured of itself since it was last seen. A part that it does not run is absent. */
export interface ProcessFigures {
  memory_bytes: number;
  gateway?: {
    connections: number;
    devices: number;
    unlogged: number;
    is_paused: boolean;
    /** Frames read a second, by protocol; those that sent none are left out. */
    frames_per_second: Record<string, number>;
  };
  ingest?: {
    packets_per_second: number;
    /** Packets that wait for their commit. */
    queue_packets: number;
    queue_bytes: number;
    /** The mean duration of a transaction; null: there was none. */
    commit_ms: number | null;
  };
  webhooks?: { lanes: number; in_flight: number; attempts_per_second: number };
}

export interface ProcessRow {
  id: string;
  host: string;
  pid: number;
  version: string;
  roles: string[];
  started_at: Date;
  seen_at: Date;
  lease_until: Date;
  figures: ProcessFigures;
}

export const renewProcess = (db: Db, row: ProcessRow): Promise<number> =>
  db.run`
    insert into service_processes as p (id, host, pid, version, roles, started_at, seen_at, lease_until, figures)
    values (${row.id}, ${row.host}, ${row.pid}, ${row.version}, ${row.roles}, ${row.started_at}, ${row.seen_at},
      ${row.lease_until}, ${row.figures})
    on conflict (id) do update set seen_at = excluded.seen_at, lease_until = excluded.lease_until,
      figures = excluded.figures`;

export const removeProcess = (db: Db, id: string): Promise<number> =>
  db.run`delete from service_processes where id = ${id}`;

/** A process that died is shown for a while, so that somebody sees that it did. */
export const forgetProcesses = (db: Db, before: Date): Promise<number> =>
  db.run`delete from service_processes where lease_until < ${before}`;

export interface ListedProcess extends ProcessRow {
  is_alive: boolean;
  /** What it holds for others to see; of a gateway, the connections of devices. */
  leases: { kind: "process" | "gateway" | "webhooks"; until: Date; count: number }[];
}

const maxProcesses = 200;

interface LeaseRow {
  owner: string;
  kind: "gateway" | "webhooks";
  until: Date;
  count: number;
}

/** Living ones first. A gateway and a deliverer hold their leases under the id of their process. */
export async function listProcesses(db: Db, now: Date): Promise<ListedProcess[]> {
  const rows = await db.many<ProcessRow>`
    select id, host, pid, version, roles, started_at, seen_at, lease_until, figures from service_processes
    order by lease_until > ${now} desc, started_at, id limit ${maxProcesses}`;
  const ids = rows.map(({ id }) => id);
  const leases = await db.many<LeaseRow>`
    select n.id as owner, 'gateway' as kind, n.lease_until as until,
      (select count(*) from device_sessions s where s.node_id = n.id and s.disconnected_at is null) as count
    from gateway_nodes n where n.id = any(${ids}::uuid[])
    union all
    select lease_owner, 'webhooks', max(lease_until), count(*) from delivery_lanes
    where lease_owner = any(${ids}::uuid[]) and lease_until > ${now} group by lease_owner`;
  return rows.map((row) => ({
    ...row,
    is_alive: row.lease_until > now,
    leases: [
      { kind: "process", until: row.lease_until, count: 1 },
      ...leases.filter(({ owner }) => owner === row.id).map(({ kind, until, count }) => ({ kind, until, count })),
    ],
  }));
}

export interface ListedGateway {
  id: string;
  host: string;
  pid: number;
  is_alive: boolean;
  figures: ProcessFigures["gateway"] | null;
  /** How the packets that it takes are stored. */
  ingest: ProcessFigures["ingest"] | null;
  /** Open connections of devices, by protocol and transport. */
  connections: { protocol: string; transport: string; count: number }[];
}

/** Connections are those that the table of sessions names, so that a gateway that died is seen with those it left behind. */
export async function listGateways(db: Db, now: Date): Promise<ListedGateway[]> {
  const processes = await db.many<ProcessRow>`
    select id, host, pid, version, roles, started_at, seen_at, lease_until, figures from service_processes
    where 'gateway' = any(roles) order by lease_until > ${now} desc, started_at, id limit ${maxProcesses}`;
  const counts = await db.many<{ node_id: string; protocol: string; transport: string; count: number }>`
    select node_id, protocol, transport, count(*) as count from device_sessions where disconnected_at is null
    group by node_id, protocol, transport order by node_id, count(*) desc, protocol, transport`;
  return processes.map(({ id, host, pid, lease_until, figures }) => ({
    id,
    host,
    pid,
    is_alive: lease_until > now,
    figures: figures.gateway ?? null,
    ingest: figures.ingest ?? null,
    connections: counts
      .filter(({ node_id }) => node_id === id)
      .map(({ protocol, transport, count }) => ({ protocol, transport, count })),
  }));
}
