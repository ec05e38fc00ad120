import type { Db, Tx } from "../../db/database.ts";
import { violatedConstraint } from "../../db/failures.ts";
import { table } from "../../db/rows.ts";
import { allOf, type Sql, sql } from "../../db/sql.ts";
import type { Principal } from "../../http/principal.ts";
import { notFound, terminalIdConflict } from "../../lib/errors.ts";
import { newUuid } from "../../lib/ids.ts";
import { isSameJson } from "../../lib/same-json.ts";
import { searchText } from "../../lib/search-text.ts";
import { isAtLeast } from "../../oauth/roles.ts";
import { type DeviceFields, type DeviceRow, deviceColumns, deviceTables } from "./device-record.ts";
import { type TerminalChoice, terminalKey } from "./terminal-id.ts";

export type { DeviceRow };

export const seesAllDevices = (principal: Principal): boolean =>
  principal.kind === "partner" || isAtLeast(principal.person.role, "ADMIN");

/** The live devices a caller may see: those of the organization; of people below ADMIN only the ones assigned to them. */
export function visibleDevices(principal: Principal): Sql {
  const own = sql`d.organization_id = ${principal.organization.id} and d.deleted_at is null`;
  if (seesAllDevices(principal)) return own;
  return sql`${own} and exists (
    select from assignments a where a.device_id = d.id and a.user_id = ${principal.id} and a.is_active)`;
}

/** A device that the caller may not see is not found, as one that does not exist. */
export async function getVisibleDevice(db: Db, principal: Principal, uid: string): Promise<DeviceRow> {
  const row = await db.maybeOne<DeviceRow>(sql`
    select ${deviceColumns} from ${deviceTables} where ${allOf([visibleDevices(principal), sql`d.uid = ${uid}`])}`);
  if (!row) throw notFound();
  return row;
}

/** For operators and the gateway: an IMEI is live once in the whole installation, so this alone needs no organization. */
export const findLiveDeviceAnywhere = (db: Db, uid: string): Promise<DeviceRow | undefined> =>
  db.maybeOne<DeviceRow>(sql`
    select ${deviceColumns} from ${deviceTables} where d.uid = ${uid} and d.deleted_at is null`);

/** Undefined: the device has been deleted. */
export const lockLiveDevice = (tx: Tx, organizationId: string, deviceId: string): Promise<DeviceRow | undefined> =>
  tx.maybeOne<DeviceRow>(sql`
    select ${deviceColumns} from ${deviceTables}
    where d.organization_id = ${organizationId} and d.id = ${deviceId} and d.deleted_at is null
    for update of d`);

/** The device that the organization once had under this IMEI. */
export const lockFormerDevice = (tx: Tx, organizationId: string, uid: string): Promise<DeviceRow | undefined> =>
  tx.maybeOne<DeviceRow>(sql`
    select ${deviceColumns} from ${deviceTables}
    where d.organization_id = ${organizationId} and d.uid = ${uid} and d.deleted_at is not null
    order by d.deleted_at desc limit 1
    for update of d`);

/** Live or deleted. */
export const isKnownDevice = async (db: Db, organizationId: string, uid: string): Promise<boolean> =>
  (await db.maybeOne`select from devices where organization_id = ${organizationId} and uid = ${uid} limit 1`) !==
  undefined;

/** What a write stores; the protocol follows from the model. */
export interface DeviceValues extends Omit<DeviceFields, "terminal_id"> {
  protocol_slug: string;
  terminal: TerminalChoice;
}

interface DeviceTable extends DeviceFields, Pick<DeviceRow, "id" | "organization_id" | "uid" | "protocol_slug"> {
  terminal_key: string | null;
  search: string;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
}
const devices = table<DeviceTable>("devices");

/** The columns that every write of the values sets; a device is live after it. */
const columnsFor = (uid: string, { terminal: _, ...values }: DeviceValues, terminalId: string | null) => ({
  ...values,
  terminal_id: terminalId,
  terminal_key: terminalId === null ? null : terminalKey(values.protocol_slug, terminalId),
  search: searchText([uid, values.name, ...values.tags]),
  deleted_at: null,
});

/** Undefined: a live device has this IMEI. */
export async function insertDevice(
  tx: Tx,
  organizationId: string,
  uid: string,
  values: DeviceValues,
  now: Date,
): Promise<DeviceRow | undefined> {
  const id = newUuid();
  const terminalId = await freeTerminalId(tx, id, values);
  const row = devices.insert({
    ...columnsFor(uid, values, terminalId),
    id,
    organization_id: organizationId,
    uid,
    created_at: now,
    updated_at: now,
  });
  const inserted = await tx.run(sql`${row} on conflict (uid) where deleted_at is null do nothing`);
  if (inserted === 0) return undefined;
  await tx.run`
    insert into device_state (device_id, organization_id, is_online, last_status)
    values (${id}, ${organizationId}, false, '{}')`;
  return lockLiveDevice(tx, organizationId, id);
}

/** Writes the values to a locked row, live or former, which is live afterwards. A row that has them already is left alone. */
export async function storeDevice(tx: Tx, before: DeviceRow, values: DeviceValues, now: Date): Promise<DeviceRow> {
  const terminalId = await freeTerminalId(tx, before.id, values);
  const { terminal: _, ...rest } = values;
  const wanted = { ...rest, terminal_id: terminalId, deleted_at: null };
  if (Object.entries(wanted).every(([field, value]) => isSameJson(value, before[field as keyof DeviceRow]))) {
    return before;
  }
  const columns = columnsFor(before.uid, values, terminalId);
  await tx.run(sql`
    update devices set ${devices.assign({ ...columns, updated_at: now })}
    where organization_id = ${before.organization_id} and id = ${before.id}`);
  if (before.deleted_at !== null) {
    await tx.run`
      update device_state set is_live = true
      where organization_id = ${before.organization_id} and device_id = ${before.id}`;
  }
  const after = await lockLiveDevice(tx, before.organization_id, before.id);
  if (!after) throw new Error(`device ${before.id} vanished under its lock`);
  return after;
}

/** Terminal ids are unique across organizations: the wire does not say whose device it is. */
async function freeTerminalId(tx: Tx, deviceId: string, values: DeviceValues): Promise<string | null> {
  const { id, isDefault } = values.terminal;
  if (id === null) return null;
  const taken = await tx.maybeOne`
    select from devices
    where protocol_slug = ${values.protocol_slug} and terminal_key = ${terminalKey(values.protocol_slug, id)}
      and deleted_at is null and id <> ${deviceId}`;
  if (!taken) return id;
  if (isDefault) return null;
  throw terminalIdConflict();
}

const racedIndexes = ["devices_live_uid", "devices_live_terminal"];
const mostAttempts = 20;

/**
 * Runs an attempt again when a parallel call took the IMEI or the terminal id between the look and the write: the next look
 * sees what that call committed. An attempt says the same by returning undefined.
 */
export async function settleRaces<T>(tx: Tx, attempt: () => Promise<T | undefined>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      const result = await tx.savepoint(attempt);
      if (result !== undefined) return result;
      if (count >= mostAttempts) throw new Error("a device could not be written: others kept changing it");
    } catch (error) {
      if (count >= mostAttempts || !racedIndexes.includes(violatedConstraint(error) ?? "")) throw error;
    }
  }
}
