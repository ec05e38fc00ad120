import type { Tx } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { imeiConflict, terminalIdConflict } from "../../lib/errors.ts";
import { newUuid } from "../../lib/ids.ts";
import { touchRules } from "../rule-versions/rule-version.ts";
import { withDefaults } from "./device-fields.ts";
import { type DeviceFields, deviceColumns, deviceTables } from "./device-record.ts";
import {
  type DeviceRow,
  type DeviceValues,
  insertDevices,
  lockAllTerminals,
  settleRaces,
  terminalKeys,
} from "./device-store.ts";
import { auditCreated, changeDevice, type DeviceWrite, resolveValues } from "./device-writes.ts";
import type { ImportError, ImportLine } from "./import-file.ts";

export interface ImportResult {
  created: number;
  updated: number;
  errors: ImportError[];
}

export type ImportWrite = Omit<DeviceWrite, "given" | "approve">;

const minAnalyzedRows = 1000;

interface PlannedLine extends ImportLine {
  before: DeviceRow | undefined;
  values: DeviceValues;
}

/**
 * Registers or updates all devices of a file, or none. With `isDryRun` it only says what it would do. Lines that cannot be
 * written are told all at once.
 */
export async function importDevices(
  tx: Tx,
  lines: readonly ImportLine[],
  write: ImportWrite,
  isDryRun: boolean,
): Promise<ImportResult> {
  await lockAllTerminals(tx);
  return settleRaces(tx, () => importOnce(tx, lines, write, isDryRun));
}

async function importOnce(
  tx: Tx,
  lines: readonly ImportLine[],
  write: ImportWrite,
  isDryRun: boolean,
): Promise<ImportResult> {
  const { planned, errors } = await plan(tx, lines, write);
  errors.push(...(await terminalErrors(tx, planned)));
  errors.sort((a, b) => a.line - b.line);
  const news = planned.filter(({ before }) => before === undefined);
  const counts = { created: news.length, updated: planned.length - news.length };
  if (isDryRun) return { ...counts, errors };
  if (errors.length > 0) return { created: 0, updated: 0, errors };
  const rows = news.map(({ uid, values }) => ({ id: newUuid(), uid, values }));
  await insertDevices(tx, write.organization.id, rows, write.now);
  for (const row of rows) await auditCreated(tx, row, write);
  const liveAnew = rows.map(({ id }) => id);
  for (const { before, given } of planned) {
    if (!before) continue;
    await changeDevice(tx, before, { ...write, given, holdsTerminals: true }, false);
    if (before.deleted_at !== null) liveAnew.push(before.id);
  }
  if (liveAnew.length > 0) {
    await touchRules(tx, write.organization.id, ...liveAnew.map((id) => ({ kind: "device", id }) as const));
  }
  // Without it the lists of the organization take seconds until the database looks at the tables by itself.
  if (rows.length >= minAnalyzedRows) await tx.run`analyze devices, device_state`;
  return { ...counts, errors };
}

async function plan(
  tx: Tx,
  lines: readonly ImportLine[],
  write: ImportWrite,
): Promise<{ planned: PlannedLine[]; errors: ImportError[] }> {
  const organizationId = write.organization.id;
  const uids = lines.map(({ uid }) => uid);
  const foreign = await tx.many<{ uid: string }>`
    select uid from devices
    where uid = any(${uids}::text[]) and deleted_at is null and organization_id <> ${organizationId}`;
  // The live one of an IMEI, or else the one that was deleted last.
  const own = await tx.many<DeviceRow>(sql`
    select ${deviceColumns} from ${deviceTables}
    where d.organization_id = ${organizationId} and d.id in (
      select distinct on (k.uid) k.id from devices k
      where k.organization_id = ${organizationId} and k.uid = any(${uids}::text[])
      order by k.uid, k.deleted_at desc nulls first)
    order by d.id for update of d`);
  const taken = new Set(foreign.map(({ uid }) => uid));
  const ownByUid = new Map(own.map((row) => [row.uid, row]));
  const planned: PlannedLine[] = [];
  const errors: ImportError[] = [];
  for (const line of lines) {
    const { uid, given } = line;
    const before = ownByUid.get(uid);
    if (taken.has(uid)) {
      errors.push({ line: line.line, field: "uid", message: imeiConflict().message });
      continue;
    }
    if (!before && given.device_model_slug === undefined) {
      errors.push({ line: line.line, field: "device_model_slug", message: "This field is required." });
      continue;
    }
    const fields = before
      ? { ...before, ...given }
      : (withDefaults(given, write.organization.timezone) as DeviceFields);
    const values = resolveValues(uid, before, fields, { ...write, given }, before === undefined);
    planned.push({ ...line, before, values });
  }
  return { planned, errors };
}

/** Ids that another live device has or would have by default, in the database or in the file itself. */
async function terminalErrors(tx: Tx, planned: readonly PlannedLine[]): Promise<ImportError[]> {
  const keyed = planned.flatMap((one) => {
    const { terminal_key: key, terminal_default_key: defaultKey } = terminalKeys(one.uid, one.values);
    return key === null ? [] : [{ ...one, key, defaultKey, protocol: one.values.protocol_slug }];
  });
  const known = await tx.many<{ id: string; uid: string; protocol_slug: string; keys: (string | null)[] }>`
    select d.id, d.uid, d.protocol_slug, array[d.terminal_key, d.terminal_default_key] as keys
    from devices d
    where d.deleted_at is null and (
      (d.protocol_slug, d.terminal_key) in (
        select * from unnest(${keyed.map(({ protocol }) => protocol)}::text[], ${keyed.map(({ key }) => key)}::text[]))
      or (d.protocol_slug, d.terminal_default_key) in (
        select * from unnest(${keyed.map(({ protocol }) => protocol)}::text[], ${keyed.map(({ key }) => key)}::text[])))`;
  const holders = new Map<string, Set<string>>();
  const hold = (protocol: string, key: string | null, uid: string): void => {
    if (key === null) return;
    const name = `${protocol} ${key}`;
    holders.set(name, (holders.get(name) ?? new Set()).add(uid));
  };
  for (const { uid, protocol_slug, keys } of known) for (const key of keys) hold(protocol_slug, key, uid);
  for (const { uid, protocol, key, defaultKey } of keyed) {
    hold(protocol, key, uid);
    hold(protocol, defaultKey, uid);
  }
  return keyed
    .filter(({ protocol, key }) => (holders.get(`${protocol} ${key}`)?.size ?? 0) > 1)
    .map(({ line }) => ({ line, field: "terminal_id", message: terminalIdConflict().message }));
}
