import fastify from "fastify";
import { Client, type ClientConfig } from "pg";

/**
 * The raw limit of reads: prepared statements on two pipelined connections behind a route, and JSON.stringify. Arguments: the
 * address of the database, the organization, the IMEI of a device. Prints its port.
 */
const [url, organizationId, uid] = process.argv.slice(2) as [string, string, string];
const config = { connectionString: url, pipeline: true } as ClientConfig;
const clients = [new Client(config), new Client(config)];
await Promise.all(clients.map((client) => client.connect()));
type BareRow = Record<string, unknown>;
let turn = 0;
const read = async (name: string, text: string, values: readonly unknown[]): Promise<BareRow[]> => {
  turn = 1 - turn;
  return (await (clients[turn] as Client).query({ name, text, values: [...values] })).rows;
};

const device = `
  select d.id, d.uid, d.uid as imei, d.name, d.device_model_slug, d.protocol_slug, d.terminal_id, d.phone_number, d.iccid,
    d.timezone, d.tags, d.metadata, d.created_at, d.updated_at, d.deleted_at, s.is_online, s.last_seen_at,
    s.status_changed_at, s.firmware_version, s.last_status, s.last_location
  from devices d left join device_state s on s.device_id = d.id and s.organization_id = d.organization_id
  where d.organization_id = $1 and d.deleted_at is null`;
const location = `
  select id, ts, device_ts, received_at, lat, lng, altitude_m, speed_kmh, heading, accuracy_m, source, satellites, is_valid,
    invalid_reason, is_moving, carrier, mcc, mnc, address
  from locations where organization_id = $1 and device_id = $2 and is_valid and ts > $3 order by ts desc, id desc`;
const type = "application/json; charset=utf-8";

const one = async (): Promise<BareRow> =>
  (await read("one", `${device} and d.uid = $2`, [organizationId, uid]))[0] ?? {};
/** The rows of a history lie in partitions, of which only those of its time are opened. */
const history = async (name: string, text: string): Promise<BareRow[]> => {
  const { id, last_seen_at } = await one();
  return read(name, text, [organizationId, id, new Date((last_seen_at as Date).getTime() - 28 * 86_400_000)]);
};
const page = async (name: string, counted: string, text: string): Promise<object> => {
  const [counts, results] = await Promise.all([
    read(`${name} count`, `select count(*)::int as count from ${counted}`, [organizationId]),
    read(name, text, [organizationId]),
  ]);
  return { count: counts[0]?.count, next: null, previous: null, results };
};

const answers: Record<string, () => Promise<object | undefined>> = {
  "/list": () =>
    page("list", "device_state where organization_id = $1 and is_live", `${device} order by d.uid limit 20`),
  "/one": one,
  "/position": async () => (await history("position", `${location} limit 1`))[0],
  "/positions": async () => ({
    next: null,
    previous: null,
    results: (await history("positions", `${location} limit 101`)).slice(0, 100),
  }),
  "/readings": async () => ({
    data: await history(
      "readings",
      `select ts, data from telemetry where organization_id = $1 and device_id = $2 and ts > $3
       order by ts desc, id desc limit 50`,
    ),
  }),
  "/events": async () => ({
    next: null,
    previous: null,
    results: await read(
      "events",
      `select e.*, d.uid as device_uid from events e
         join devices d on d.id = e.device_id and d.organization_id = e.organization_id
       where e.organization_id = $1 and e.deleted_at is null order by e.ts desc, e.id desc limit 21`,
      [organizationId],
    ),
  }),
  "/geofences": () =>
    page(
      "geofences",
      "geofences where organization_id = $1 and deleted_at is null",
      `select g.*, (select count(*) from geofence_devices l where l.geofence_id = g.id)::int as device_count
       from geofences g where g.organization_id = $1 and g.deleted_at is null order by g.name, g.id limit 20`,
    ),
  "/users": () =>
    page(
      "users",
      "memberships where organization_id = $1 and is_open",
      `select m.user_id as id, m.email, m.first_name, m.last_name, m.phone_number, m.role, m.joined_at, m.closed_at,
         m.created_at, m.updated_at, u.password_hash is not null as portal_active
       from memberships m join users u on u.id = m.user_id
       where m.organization_id = $1 and m.is_open order by m.email, m.user_id limit 20`,
    ),
};

const app = fastify();
for (const [path, answer] of Object.entries(answers)) {
  app.get(path, async (_request, reply) => reply.header("content-type", type).send(JSON.stringify(await answer())));
}
await app.listen({ port: 0, host: "127.0.0.1" });
console.log((app.server.address() as { port: number }).port);
