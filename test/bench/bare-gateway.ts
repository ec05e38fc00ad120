import { randomBytes } from "node:crypto";
import { type AddressInfo, createServer, type Socket } from "node:net";
import pg from "pg";
import { CopyRows, copyAnd, copyTarget } from "../../src/db/copy-in.ts";

/**
 * The raw limit of ingest: the same two rows of each frame by binary COPY, everything that waits in one transaction, the answer
 * after the commit. No codec, no devices, no duplicates, no state. Argument: connection of the database. Prints its port.
 */
const client = new pg.Client(JSON.parse(process.argv[2] as string));
client.on("error", () => process.exit(0));
await client.connect();
await client.query(`
  create schema if not exists bare;
  create table if not exists bare.locations (like public.locations including all) partition by range (ts);
  create table if not exists bare.telemetry (like public.telemetry including all) partition by range (ts);
  create table if not exists bare.locations_all partition of bare.locations default;
  create table if not exists bare.telemetry_all partition of bare.telemetry default;
  truncate bare.locations, bare.telemetry`);

const organization = randomBytes(16);
const locationColumns = [
  ..."device_id ts id organization_id device_ts received_at lat lng altitude_m speed_kmh heading accuracy_m".split(" "),
  ..."source satellites is_valid invalid_reason is_moving mcc mnc carrier".split(" "),
];
const telemetryColumns = ["device_id", "ts", "id", "organization_id", "device_ts", "received_at", "data"];
const json = JSON.stringify({ gsm_signal: 23, satellites: 9, bat: 81 });
const answer = Buffer.from("IWBP01#");
interface Waiting {
  socket: Socket;
  device: Buffer;
}
const locationsTarget = copyTarget("bare.locations", locationColumns);
const telemetryTarget = copyTarget("bare.telemetry", telemetryColumns);
const waiting: Waiting[] = [];
let isStoring = false;

async function store(): Promise<void> {
  isStoring = true;
  while (waiting.length > 0) {
    const batch = waiting.splice(0, 2000);
    const now = Date.now();
    const locations = new CopyRows(locationsTarget);
    const telemetry = new CopyRows(telemetryTarget);
    for (const { device } of batch) {
      const row = locations.row().uuid(device).timestamptz(now).uuid(randomBytes(16)).uuid(organization);
      row.timestamptz(now).timestamptz(now).float8(41.9).float8(12.4).float4(null).float4(3.2).int2(118).float4(null);
      row.text("gps").int2(9).bool(true).text(null).bool(true).int2(222).int2(1).text(null);
      const reading = telemetry.row().uuid(device).timestamptz(now).uuid(randomBytes(16)).uuid(organization);
      reading.timestamptz(now).timestamptz(now).jsonb(json);
    }
    await client.query("begin");
    await copyAnd(client, [locations, telemetry], "commit");
    for (const { socket } of batch) socket.write(answer);
  }
  isStoring = false;
}

const server = createServer({ noDelay: true }, (socket) => {
  const device = randomBytes(16);
  let isIn = false;
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => {
    for (let at = chunk.indexOf(0x23); at >= 0; at = chunk.indexOf(0x23, at + 1)) {
      if (isIn) waiting.push({ socket, device });
      else socket.write("IWBP00,20260301081530,0#");
      isIn = true;
    }
    if (!isStoring && waiting.length > 0) void store();
  });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => console.log((server.address() as AddressInfo).port));
process.on("SIGTERM", () => process.exit(0));
