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
let turn = 0;
const read = async (name: string, text: string, values: readonly unknown[]): Promise<Record<string, unknown>[]> => {
  turn = 1 - turn;
  return (await (clients[turn] as Client).query({ name, text, values: [...values] })).rows;
};

const device = `
  select d.id, d.uid, d.uid as imei, d.name, d.device_model_slug, d.protocol_slug, d.terminal_id, d.phone_number, d.iccid,
    d.timezone, d.tags, d.metadata, d.created_at, d.updated_at, d.deleted_at, s.is_online, s.last_seen_at,
    s.status_changed_at, s.firmware_version, s.last_status, s.last_location
  from devices d left join device_state s on s.device_id = d.id and s.organization_id = d.organization_id
  where d.organization_id = $1 and d.deleted_at is null`;
const type = "application/json; charset=utf-8";

const app = fastify();
app.get("/list", async (_request, reply) => {
  const [counts, results] = await Promise.all([
    read("count", "select count(*)::int as count from device_state where organization_id = $1 and is_live", [
      organizationId,
    ]),
    read("list", `${device} order by d.uid limit 20`, [organizationId]),
  ]);
  const text = JSON.stringify({ count: counts[0]?.count, next: null, previous: null, results });
  return reply.header("content-type", type).send(text);
});
app.get("/one", async (_request, reply) => {
  const [row] = await read("one", `${device} and d.uid = $2`, [organizationId, uid]);
  return reply.header("content-type", type).send(JSON.stringify(row));
});
await app.listen({ port: 0, host: "127.0.0.1" });
console.log((app.server.address() as { port: number }).port);
