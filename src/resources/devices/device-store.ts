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
import { defaultTerminalId, terminalKey } from "./terminal-id.ts";

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
export interface DeviceValues extends DeviceFields {
  protocol_slug: string;
}

interface DeviceTable extends DeviceFields, Pick<DeviceRow, "id" | "organization_id" | "uid" | "protocol_slug"> {
  terminal_key: string | null;
  terminal_default_key: string | null;
  search: string;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
}
const devices = table<DeviceTable>("devices");

/** The columns that every write of the values sets; a device is live after it. */
const columnsFor = (uid: string, values: DeviceValues) => ({
  ...values,
  ...terminalKeys(uid, values),
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
  await refuseTakenTerminal(tx, id, uid, values);
  const row = devices.insert({
    ...columnsFor(uid, values),
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

export interface NewDevice {
  id: string;
  uid: string;
  values: DeviceValues;
}

const maxRowsAtOnce = 1000;

/** Many new devices; the caller has made sure that no live one has their IMEIs or terminal ids. */
export async function insertDevices(
  tx: Tx,
  organizationId: string,
  rows: readonly NewDevice[],
  now: Date,
): Promise<void> {
  for (let from = 0; from < rows.length; from += maxRowsAtOnce) {
    const some = rows.slice(from, from + maxRowsAtOnce).map(({ id, uid, values }) => ({
      ...columnsFor(uid, values),
      id,
      uid,
    }));
    await tx.run`
      insert into devices (id, organization_id, uid, name, device_model_slug, protocol_slug, terminal_id, terminal_key,
        terminal_default_key, phone_number, iccid, timezone, tags, metadata, search, created_at, updated_at)
      select r.id, ${organizationId}, r.uid, r.name, r.device_model_slug, r.protocol_slug, r.terminal_id, r.terminal_key,
        r.terminal_default_key, r.phone_number, r.iccid, r.timezone, array(select jsonb_array_elements_text(r.tags)),
        r.metadata, r.search, ${now}, ${now}
      from jsonb_to_recordset(${JSON.stringify(some)}::jsonb) as r (id uuid, uid text, name text, device_model_slug text,
        protocol_slug text, terminal_id text, terminal_key text, terminal_default_key text, phone_number text, iccid text,
        timezone text, tags jsonb, metadata jsonb, search text)`;
    await tx.run`
      insert into device_state (device_id, organization_id, is_online, last_status)
      select id, ${organizationId}, false, '{}' from unnest(${some.map(({ id }) => id)}::uuid[]) as r (id)`;
  }
}

/** Held by everybody who looks at one terminal id, and alone by whoever looks at many: a lock of each would fill the table of locks. */
const allTerminals = 7_130_012;

export const lockAllTerminals = (tx: Tx): Promise<number> => tx.run`select pg_advisory_xact_lock(${allTerminals})`;

/** Writes the values to a locked row, live or former, which is live afterwards. A row that has them already is left alone. */
export async function storeDevice(
  tx: Tx,
  before: DeviceRow,
  values: DeviceValues,
  now: Date,
  holdsTerminals = false,
): Promise<DeviceRow> {
  const wanted = { ...values, deleted_at: null };
  if (Object.entries(wanted).every(([field, value]) => isSameJson(value, before[field as keyof DeviceRow]))) {
    return before;
  }
  if (!holdsTerminals) await refuseTakenTerminal(tx, before.id, before.uid, values);
  const columns = columnsFor(before.uid, values);
  await tx.run(sql`
    update devices set ${devices.assign({ ...columns, updated_at: now })}
    where organization_id = ${before.organization_id} and id = ${before.id}`);
  if (before.deleted_at !== null) {
    await tx.run`
      update device_state set is_live = true
      where organization_id = ${before.organization_id} and device_id = ${before.id}`;
  }
  const after = await lockLiveDevice(tx, before.organization_id, before.id);
  if (!after) throw new Error(`device ${before.id} disappeared while it was locked`);
  return after;
}

interface TerminalKeys {
  terminal_key: string | null;
  /** That of the id the device would have without another choice: nobody else may take it. */
  terminal_default_key: string | null;
}

export function terminalKeys(
  uid: string,
  { protocol_slug, terminal_id }: Pick<DeviceValues, "protocol_slug" | "terminal_id">,
): TerminalKeys {
  const keyOf = (id: string | null): string | null => (id === null ? null : terminalKey(protocol_slug, id));
  return { terminal_key: keyOf(terminal_id), terminal_default_key: keyOf(defaultTerminalId(uid, protocol_slug)) };
}

/**
 * Terminal ids are unique across organizations: the wire does not say whose device it is. So nobody may take an id that another
 * live device has, or would have by default: it would get that device's packets (decisions 30). The lock makes parallel calls
 * for one id see each other.
 */
export async function refuseTakenTerminal(
  tx: Tx,
  deviceId: string,
  uid: string,
  values: Pick<DeviceValues, "protocol_slug" | "terminal_id">,
): Promise<void> {
  const { terminal_key: key, terminal_default_key: defaultKey } = terminalKeys(uid, values);
  const keys = [...new Set([key, defaultKey])].filter((one) => one !== null).toSorted();
  for (const one of keys) {
    await tx.run`select pg_advisory_xact_lock_shared(${allTerminals}), pg_advisory_xact_lock(hashtextextended(${`${values.protocol_slug}\n${one}`}, 7130011))`;
  }
  if (key === null) return;
  const taken = await tx.maybeOne`
    select from devices
    where protocol_slug = ${values.protocol_slug} and deleted_at is null and id <> ${deviceId}
      and (terminal_key = ${key} or terminal_default_key = ${key}) limit 1`;
  if (taken) throw terminalIdConflict();
}

const racedIndexes = ["devices_live_uid", "devices_live_terminal"];
const maxAttempts = 20;

/**
 * Runs an attempt again when a parallel call took the IMEI or the terminal id between the look and the write: the next look
 * sees what that call committed. An attempt says the same by returning undefined.
 */
export async function settleRaces<T>(tx: Tx, attempt: () => Promise<T | undefined>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      const result = await tx.savepoint(attempt);
      if (result !== undefined) return result;
      if (count >= maxAttempts) throw new Error("a device could not be updated: concurrent changes kept changing it");
    } catch (error) {
      if (count >= maxAttempts || !racedIndexes.includes(violatedConstraint(error) ?? "")) throw error;
    }
  }
}
