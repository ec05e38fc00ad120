import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Client } from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { embeddedUrl } from "../support/embedded-client.ts";
import { fillOrganization } from "../support/large-organization.ts";
import {
  type Credentials,
  fetchTokenOf,
  type RunningVigil,
  startVigil,
  tempFolder,
  vigilJson,
} from "../support/vigil-process.ts";

const connections = 32;
const devices = 1000;
const uid = "350000000000007";
const script = (name: string): string[] => ["--import", "tsx", join(import.meta.dirname, name)];

/** A read of ours and the same of the bare server. */
export interface Read {
  what: string;
  path: string;
  barePath: string;
}

const under = `/api/v1/devices/${uid}`;

export const databaseReads: readonly Read[] = [
  { what: `20 of ${devices} devices`, path: "/api/v1/devices/?page_size=20", barePath: "/list" },
  { what: "one device", path: `${under}/`, barePath: "/one" },
  { what: "latest position of a device", path: `${under}/locations/latest/`, barePath: "/position" },
  { what: "latest readings of a device", path: `${under}/telemetry/latest/`, barePath: "/readings" },
  { what: "100 positions of a device", path: `${under}/locations/`, barePath: "/positions" },
  { what: "20 events", path: "/api/v1/events/?page_size=20", barePath: "/events" },
  { what: "20 of 100 geofences", path: "/api/v1/geofences/?page_size=20", barePath: "/geofences" },
  { what: `20 of ${devices} people`, path: "/api/v1/auth/users/?page_size=20", barePath: "/users" },
];

/** Requests a second from a process of its own. */
export async function loadReads(
  address: string,
  path: string,
  authorization: string,
  durationMs: number,
): Promise<number> {
  const { hostname, port } = new URL(address);
  const args = [hostname, port, path, authorization, String(connections), String(durationMs)];
  const { stdout } = await promisify(execFile)(process.execPath, [...script("load.ts"), ...args]);
  const { perSecond, failed } = JSON.parse(stdout) as { perSecond: number; failed: number };
  if (failed > 0) throw new Error(`${failed} calls of ${path} failed`);
  return perSecond;
}

export interface BareServer {
  address: string;
  pid: number;
  stop(): void;
}

export async function startBareServer(name: string, args: readonly string[]): Promise<BareServer> {
  const child = spawn(process.execPath, [...script(name), ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise<string>((done) => createInterface({ input: child.stdout }).once("line", done));
  return { address: `http://127.0.0.1:${port}`, pid: child.pid as number, stop: () => child.kill() };
}

export interface ReadWorld {
  http: string;
  authorization: string;
  /** Of the service. */
  pid: number;
  dataDir: string;
  databaseUrl: string;
  /** Answers what `databaseReads` ask it. */
  bare: BareServer;
  /** One more service on the same database; the caller ends it. */
  start(env: Record<string, string>): Promise<RunningVigil>;
  close(): Promise<void>;
}

/** A service with an organization of 1,000 devices and people, one of them with a history, and the bare server on its database. */
export async function openReadWorld(nodeFlags: readonly string[] = [], settings = {}): Promise<ReadWorld> {
  const folder = await tempFolder();
  const server = await openEmbeddedServer({
    dataDir: folder.path,
    log: makeLogger("silent"),
    purpose: "command",
    settings,
  });
  const databaseUrl = embeddedUrl(server.connection);
  const env = { DATABASE_URL: databaseUrl, VIGIL_LOG_LEVEL: process.env.VIGIL_LOG_LEVEL ?? "info" };
  const where = ["--data-dir", folder.path];
  const start = (more = {}): Promise<RunningVigil> => startVigil(where, { ...env, ...more }, "start", nodeFlags);
  const service = await start();
  const limits = ["--per-minute", "1000000000", "--per-hour", "1000000000"];
  const organization = ["org", "create", "--name", "Bench", "--slug", "bench", ...limits, ...where];
  const { id } = await vigilJson<{ id: string }>([...organization, "--feature", "managed_onboarding"], env);
  const integration = ["integration", "create", "--org", "bench", "--name", "Bench", "--scopes", "all", ...where];
  const authorization = `Bearer ${await fetchTokenOf(service.http, await vigilJson<Credentials>(integration, env))}`;
  await fill(databaseUrl, id);
  const bare = await startBareServer("bare-reads.ts", [databaseUrl, id, uid]);
  return {
    http: service.http,
    authorization,
    pid: service.process.pid as number,
    dataDir: folder.path,
    databaseUrl,
    bare,
    start,
    close: async () => {
      bare.stop();
      await service.kill("SIGTERM");
      await server.release();
      await folder.remove();
    },
  };
}

async function fill(url: string, organizationId: string): Promise<void> {
  const db = new Client({ connectionString: url });
  await db.connect();
  await fillOrganization(db, organizationId, devices, 0);
  await db.query(`update device_state set last_seen_at = now() from devices d where d.id = device_id and d.uid = $1`, [
    uid,
  ]);
  await db.query(
    `insert into locations (device_id, organization_id, id, ts, device_ts, received_at, lat, lng, speed_kmh, heading,
       accuracy_m, source, satellites, is_valid, is_moving, carrier, mcc, mnc)
     select id, organization_id, gen_random_uuid(), ts, ts, ts, 41.902782 + n * 0.0001, 12.496367, 3.5, 120, 8, 'gps', 9, true,
       true, 'TIM', 222, 1
     from devices, generate_series(1, 1000) n, lateral (select now() - n * interval '1 minute' as ts) t where uid = $1`,
    [uid],
  );
  await db.query(
    `insert into telemetry (device_id, organization_id, id, ts, device_ts, received_at, data)
     select id, organization_id, gen_random_uuid(), ts, ts, ts, '{"bat":81,"hr":72,"steps":4012,"gsm_signal":64}'
     from devices, generate_series(1, 1000) n, lateral (select now() - n * interval '1 minute' as ts) t where uid = $1`,
    [uid],
  );
  await db.query(
    `insert into events (device_id, id, organization_id, event_type, severity, ts, device_ts, title, message, location, data,
       search, created_at)
     select id, gen_random_uuid(), organization_id, 10, 30, now() - n * interval '1 minute', now(), 'SOS pressed', 'SOS pressed',
       '{"lat":41.902782,"lng":12.496367,"accuracy_m":8,"source":"gps","ts":"2026-03-01T08:15:29.900Z"}', '{}', 'sos', now()
     from (select *, row_number() over (order by uid) as n from devices) d`,
  );
  await db.query(
    `insert into geofences (id, organization_id, name, description, lat, lng, radius_m, trigger_on_enter, trigger_on_exit,
       trigger_on_dwell, is_active, scope, shape_revision, search, created_at, updated_at)
     select gen_random_uuid(), $1, 'Place ' || n, '', 41.9, 12.5, 150, true, true, false, true, 'device', 1, 'place', now(), now()
     from generate_series(1, 100) n`,
    [organizationId],
  );
  await db.query(
    `insert into geofence_devices (geofence_id, device_id, organization_id, linked_at)
     select g.id, d.id, $1, now() from geofences g, (select id from devices order by uid limit 5) d`,
    [organizationId],
  );
  await db.query("vacuum analyze");
  await db.end();
}
