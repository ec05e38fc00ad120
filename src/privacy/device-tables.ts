import type { KeyedRows } from "../db/keyed-rows.ts";
import { sql } from "../db/sql.ts";

/** A device record of the past or of now. An IMEI may have had several, each with a history of its own. */
export interface HeldDevice {
  id: string;
  organizationId: string;
  uid: string;
}

export interface DeviceTable {
  table: string;
  /** After the device, in the order of the primary key or of an index. */
  key: KeyedRows["key"];
  /** Of one statement: fewer where rows are large. */
  batchRows: number;
  /** Rows that name no organization: those of the device alone. */
  hasNoOrganization?: true;
  /** Why these rows are in no export; undefined: they are. */
  notExported?: string;
  /** Columns that an export leaves out. */
  hidden?: readonly string[];
}

const batchRows = 5000;
/** Recordings have up to some hundred kilobytes. */
const mediaRows = 200;

/** The history of a device and what else is kept of it alone, in the order in which it is erased. */
export const deviceTables: readonly DeviceTable[] = [
  { table: "place_jobs", key: [["id", "uuid"]], batchRows },
  {
    table: "locations",
    key: [
      ["ts", "timestamptz"],
      ["id", "uuid"],
    ],
    batchRows,
  },
  {
    table: "telemetry",
    key: [
      ["ts", "timestamptz"],
      ["id", "uuid"],
    ],
    batchRows,
  },
  { table: "events", key: [["id", "uuid"]], batchRows, hidden: ["search"] },
  { table: "commands", key: [["id", "uuid"]], batchRows },
  { table: "messages", key: [["id", "uuid"]], batchRows, hidden: ["search"] },
  { table: "message_audio", key: [["message_id", "uuid"]], batchRows: mediaRows, notExported: "recordings are files" },
  {
    table: "voice_parts",
    key: [
      ["transfer", "text"],
      ["sequence", "int"],
    ],
    batchRows: mediaRows,
  },
  { table: "voice_transfers", key: [["transfer", "text"]], batchRows },
  {
    table: "ecg_parts",
    key: [
      ["recording_id", "uuid"],
      ["lead", "smallint"],
      ["sequence", "smallint"],
    ],
    batchRows: mediaRows,
  },
  { table: "ecg_recordings", key: [["id", "uuid"]], batchRows, hidden: ["search"] },
  {
    table: "poisoned_packets",
    key: [
      ["received_at", "timestamptz"],
      ["id", "uuid"],
    ],
    batchRows: mediaRows,
  },
  {
    table: "ingest_frames",
    key: [
      ["device_day", "date"],
      ["frame_key", "uuid"],
    ],
    batchRows,
    hasNoOrganization: true,
    notExported: "hashes that tell packets apart",
  },
  { table: "device_media_days", key: [["day", "date"]], batchRows },
  { table: "rule_states", key: [["device_id", "uuid"]], batchRows },
  { table: "device_codes", key: [["device_id", "uuid"]], batchRows, notExported: "the secret of the device" },
  { table: "device_settings", key: [["setting", "text"]], batchRows },
  { table: "device_capability_overrides", key: [["code", "text"]], batchRows },
  { table: "live_changes", key: [["id", "bigint"]], batchRows, notExported: "ids of events, messages and commands" },
];

export const rowsOf = (device: HeldDevice, { table, key, hasNoOrganization }: DeviceTable): KeyedRows => ({
  table,
  key,
  where: hasNoOrganization
    ? sql`device_id = ${device.id}`
    : sql`device_id = ${device.id} and organization_id = ${device.organizationId}`,
});
