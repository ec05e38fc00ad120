import type { Tx } from "../../db/database.ts";
import { imeiConflict, notFound, validationError } from "../../lib/errors.ts";
import { pick } from "../../lib/pick.ts";
import type { Actor } from "../../oauth/actor.ts";
import { changesBetween, recordAudit } from "../audit/audit-store.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { touchRules } from "../rule-versions/rule-version.ts";
import { type GivenFields, withDefaults } from "./device-fields.ts";
import { Device, type DeviceFields, verbatimFields } from "./device-record.ts";
import { dropSession } from "./device-sessions.ts";
import { saveSim } from "./device-sim.ts";
import {
  type DeviceRow,
  type DeviceValues,
  findLiveDeviceAnywhere,
  insertDevice,
  isKnownDevice,
  lockFormerDevice,
  lockLiveDevice,
  type NewDevice,
  settleRaces,
  storeDevice,
} from "./device-store.ts";
import { chooseTerminalId } from "./terminal-id.ts";

/** What a connection takes from the device when it logs in. */
const sessionFields = ["device_model_slug", "terminal_id", "timezone"] as const;

export interface DeviceWrite {
  organization: { id: string; timezone: string };
  given: GivenFields;
  catalog: Catalog;
  actor: Actor;
  now: Date;
  /** The caller has the lock of all terminal ids, and has looked at them. */
  holdsTerminals?: boolean;
  /** Refuses what the caller may not change, once it is known what the record was (undefined: new) and will be. */
  approve?(before: DeviceRow | undefined, values: DeviceValues): void;
}

export interface Registered {
  isNew: boolean;
  device: DeviceRow;
}

/** POST: a new device, an update of the own live one, or the return of one that the organization had deleted. */
export async function registerDevice(tx: Tx, uid: string, write: DeviceWrite): Promise<Registered> {
  const { isRevived, ...registered } = await register(tx, uid, write);
  if (isRevived) await touchRules(tx, write.organization.id, { kind: "device", id: registered.device.id });
  return registered;
}

function register(tx: Tx, uid: string, write: DeviceWrite): Promise<Registered & { isRevived: boolean }> {
  const { organization, now } = write;
  return settleRaces(tx, async () => {
    const live = await findLiveDeviceAnywhere(tx, uid);
    if (live && live.organization_id !== organization.id) throw imeiConflict();
    const before = live
      ? await lockLiveDevice(tx, organization.id, live.id)
      : await lockFormerDevice(tx, organization.id, uid);
    // Deleted between the look and the lock.
    if (live && !before) return undefined;
    if (before) return { isNew: false, isRevived: !live, device: await changeDevice(tx, before, write, false) };

    const { device_model_slug } = write.given;
    if (device_model_slug === undefined) {
      // A parallel call may have taken it back between the two looks: then it is not new.
      if (await isKnownDevice(tx, organization.id, uid)) return undefined;
      throw validationError({ device_model_slug: ["This field is required."] });
    }
    const fields = { device_model_slug, ...withDefaults(write.given, organization.timezone) } as DeviceFields;
    const values = resolveValues(uid, undefined, fields, write, true);
    write.approve?.(undefined, values);
    const device = await insertDevice(tx, organization.id, uid, values, now);
    if (!device) return undefined;
    await audit(tx, "created", null, device, write);
    return { isNew: true, isRevived: true, device };
  });
}

/** PUT (`isFull`: what is not given returns to its default) and PATCH. */
export function updateDevice(tx: Tx, deviceId: string, write: DeviceWrite, isFull: boolean): Promise<DeviceRow> {
  return settleRaces(tx, async () => {
    const before = await lockLiveDevice(tx, write.organization.id, deviceId);
    if (!before) throw notFound();
    return changeDevice(tx, before, write, isFull);
  });
}

export async function changeDevice(tx: Tx, before: DeviceRow, write: DeviceWrite, isFull: boolean): Promise<DeviceRow> {
  const given = isFull ? withDefaults(write.given, write.organization.timezone) : write.given;
  const values = resolveValues(before.uid, before, { ...before, ...given }, write, isFull);
  write.approve?.(before, values);
  const after = await storeDevice(tx, before, values, write.now, write.holdsTerminals);
  // The connection speaks with the dialect, the id and the zone of before: the device is made to log in again.
  const isOtherDevice = sessionFields.some((field) => before[field] !== after[field]);
  if (isOtherDevice) await dropSession(tx, write.organization.id, after.id, write.now);
  // Also an unchanged null: it says that the next SIM is welcome (section 30).
  if (write.given.iccid !== undefined || before.iccid !== after.iccid) {
    await saveSim(tx, write.organization.id, after.id, { iccid: after.iccid, imsi: null });
  }
  await audit(tx, "updated", before, after, write);
  return after;
}

/** What a write leaves of a device. */
export function resolveValues(
  uid: string,
  before: DeviceRow | undefined,
  fields: DeviceFields,
  { given, catalog }: DeviceWrite,
  isFull: boolean,
): DeviceValues {
  const { device_model_slug } = fields;
  // A model that has left the catalog keeps its devices as they are.
  const protocol_slug = catalog.findModel(device_model_slug)?.protocol_slug ?? before?.protocol_slug;
  if (protocol_slug === undefined) throw new Error(`the catalog has no model ${device_model_slug}`);
  const terminal_id = chooseTerminalId(uid, before, protocol_slug, given.terminal_id, isFull);
  return { ...pick(fields, verbatimFields), protocol_slug, terminal_id };
}

const alsoAudited = ["uid", "protocol_slug", "deleted_at"] as const;
const audited: readonly string[] = [...verbatimFields, ...alsoAudited];
const auditedFields = Object.keys(Device.properties).filter((field) => audited.includes(field)) as (
  | keyof DeviceFields
  | (typeof alsoAudited)[number]
)[];

/** By the names of the API, and in its order. */
export const auditView = (device: DeviceRow): Record<string, unknown> => pick(device, auditedFields);

const audit = (
  tx: Tx,
  action: "created" | "updated",
  before: DeviceRow | null,
  after: DeviceRow,
  { actor, now }: DeviceWrite,
): Promise<void> =>
  recordAudit(tx, actor, now, {
    action,
    model: "device",
    objectPk: after.id,
    objectRepr: after.uid,
    changes: changesBetween(before && auditView(before), auditView(after)),
  });

/** The entry of a device that was written together with others. */
export const auditCreated = (
  tx: Tx,
  { id, uid, values }: NewDevice,
  { actor, now }: Pick<DeviceWrite, "actor" | "now">,
): Promise<void> =>
  recordAudit(tx, actor, now, {
    action: "created",
    model: "device",
    objectPk: id,
    objectRepr: uid,
    changes: changesBetween(null, pick({ ...values, uid, deleted_at: null }, auditedFields)),
  });
