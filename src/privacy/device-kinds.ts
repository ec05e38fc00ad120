import type { Db } from "../db/database.ts";
import { readKeyedRows } from "../db/keyed-rows.ts";
import { type Sql, sql } from "../db/sql.ts";
import { deviceTables, type HeldDevice, rowsOf } from "./device-tables.ts";
import { listIntegrationIds, readLogIds } from "./outbound-erasure.ts";
import { type Lines, readLines } from "./person-kinds.ts";

/** What is held of devices, one file each for all of them. */
export function deviceKinds(db: Db, devices: readonly HeldDevice[]): [kind: string, lines: Lines][] {
  const byDevice = [["device_id", "uuid"]] as const;
  const single = (table: string, hidden: readonly string[] = []): Lines =>
    each(devices, (device) => readLines(db, { table, key: byDevice, where: ofDevice(device) }, hidden));
  return [
    [
      "devices",
      each(devices, ({ id, organizationId }) => {
        const where = sql`id = ${id} and organization_id = ${organizationId}`;
        return readLines(db, { table: "devices", key: [["id", "uuid"]], where }, ["search"]);
      }),
    ],
    ["device_state", single("device_state")],
    ["device_sessions", single("device_sessions")],
    ...deviceTables
      .filter(({ notExported }) => notExported === undefined)
      .map((table): [string, Lines] => {
        const read = (device: HeldDevice): Lines => readLines(db, rowsOf(device, table), table.hidden);
        return [table.table, table.table === "ecg_parts" ? withSamples(each(devices, read)) : each(devices, read)];
      }),
    ["device_thresholds", each(devices, (device) => readThresholds(db, device))],
    ["device_geofences", each(devices, (device) => readFences(db, device))],
    ["device_assignments", each(devices, (device) => readAssignments(db, device))],
    ["outbound_events", each(eachUid(devices), (device) => readOutbound(db, device))],
    ["delivery_attempts", each(eachUid(devices), (device) => readAttempts(db, device))],
  ];
}

/** The log knows a device by its IMEI, which a device that was deleted and registered again has twice. */
const eachUid = (devices: readonly HeldDevice[]): HeldDevice[] => [
  ...new Map(devices.map((device) => [`${device.organizationId} ${device.uid}`, device])).values(),
];

const ofDevice = ({ id, organizationId }: HeldDevice): Sql =>
  sql`device_id = ${id} and organization_id = ${organizationId}`;

async function* each(devices: readonly HeldDevice[], read: (device: HeldDevice) => Lines): Lines {
  for (const device of devices) yield* read(device);
}

/** Samples as numbers instead of the bytes they are stored as: signed, of sixteen bits, the high byte first. */
async function* withSamples(lines: Lines): Lines {
  for await (const page of lines) {
    yield page.map((line) => {
      const part = JSON.parse(line) as { samples: string };
      const bytes = Buffer.from(part.samples.slice(2), "hex");
      const samples = Array.from({ length: bytes.length >> 1 }, (_, index) => bytes.readInt16BE(2 * index));
      return JSON.stringify({ ...part, samples });
    });
  }
}

const readThresholds = (db: Db, device: HeldDevice): Lines =>
  readLines(db, { table: "alert_thresholds", key: [["id", "uuid"]], where: ofDevice(device) });

const readFences = (db: Db, { id, organizationId }: HeldDevice): Lines => {
  const linked = sql`select geofence_id from geofence_devices where organization_id = ${organizationId} and device_id = ${id}`;
  const where = sql`organization_id = ${organizationId} and id in (${linked})`;
  return readLines(db, { table: "geofences", key: [["id", "uuid"]], where }, ["search"]);
};

/** Who else holds the device is told by a number only. */
const readAssignments = (db: Db, device: HeldDevice): Lines =>
  readLines(db, { table: "assignments", key: [["id", "uuid"]], where: ofDevice(device) }, ["search"]);

async function* readOutbound(db: Db, { organizationId, uid }: HeldDevice): Lines {
  const isWanted = sql`device_uid = ${uid}`;
  for (const integrationId of await listIntegrationIds(db, organizationId)) {
    for await (const ids of readLogIds(db, organizationId, integrationId, { isWanted })) {
      const own = sql`integration_id = ${integrationId} and organization_id = ${organizationId}`;
      const where = sql`${own} and id >= ${ids[0]} and id <= ${ids.at(-1)} and ${isWanted}`;
      yield* readLines(db, { table: "outbound_events", key: [["id", "uuid"]], where });
    }
  }
}

async function* readAttempts(db: Db, { organizationId, uid }: HeldDevice): Lines {
  for (const integrationId of await listIntegrationIds(db, organizationId)) {
    const where = sql`
      integration_id = ${integrationId} and organization_id = ${organizationId} and device_uid = ${uid}`;
    yield* readLines(db, { table: "delivery_attempts", key: [["id", "uuid"]], where });
  }
}

export interface Recording {
  name: string;
  bytes: Buffer;
}

/** The recordings of messages, one in memory at a time. */
export async function* readRecordings(db: Db, { id, organizationId, uid }: HeldDevice): AsyncGenerator<Recording> {
  const rows = {
    table: "message_audio",
    key: [["message_id", "uuid"]] as const,
    where: ofDevice({ id, organizationId, uid }),
  };
  const select = sql`message_id`;
  for await (const page of readKeyedRows<{ message_id: string }>(db, rows, { select, pageRows: 1000 })) {
    for (const { message_id } of page) {
      const found = await db.maybeOne<{ bytes: Buffer; mime_type: string | null }>`
        select a.bytes, m.mime_type from message_audio a
        left join messages m on m.device_id = a.device_id and m.id = a.message_id
        where a.device_id = ${id} and a.organization_id = ${organizationId} and a.message_id = ${message_id}`;
      if (!found) continue;
      const ending = (found.mime_type ?? "audio/amr") === "audio/amr" ? "amr" : "bin";
      yield { name: `recordings/${uid}/${message_id}.${ending}`, bytes: found.bytes };
    }
  }
}
