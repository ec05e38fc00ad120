import type { Db, Tx } from "../../db/database.ts";
import type { Actor } from "../../oauth/actor.ts";
import { changesBetween, recordAudit } from "../audit/audit-store.ts";
import type { Capability, ParamsSchema } from "../catalog/capability.ts";
import { type CapabilityOverride, resolveCapabilities } from "../catalog/capability-override.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { DeviceRow } from "./device-record.ts";

type Target = Pick<DeviceRow, "id" | "organization_id" | "device_model_slug">;

const listOverrides = (db: Db, { organization_id, id }: Target): Promise<CapabilityOverride[]> =>
  db.many<CapabilityOverride & Record<string, unknown>>`
    select code, supported, params_schema from device_capability_overrides
    where organization_id = ${organization_id} and device_id = ${id} order by code`;

/** What this device can do: its model, with what an operator changed for it. */
export async function capabilitiesOfDevice(db: Db, device: Target, catalog: Catalog): Promise<Capability[]> {
  const overrides = await listOverrides(db, device);
  const capabilities = catalog.findModel(device.device_model_slug)
    ? catalog.capabilitiesOf(device.device_model_slug)
    : [];
  return resolveCapabilities(capabilities, overrides, catalog.findCapability);
}

/** `paramsSchema` undefined keeps the schema of an earlier override, null returns to that of the catalog. */
export async function setCapabilityOverride(
  tx: Tx,
  device: Target,
  override: { code: string; supported: boolean; paramsSchema: ParamsSchema | null | undefined },
  actor: Actor,
  now: Date,
): Promise<void> {
  const { code, supported } = override;
  // The device row is the lock: two operators at once would both see no earlier override.
  await tx.one`select id from devices where organization_id = ${device.organization_id} and id = ${device.id} for update`;
  const before = (await listOverrides(tx, device)).find((earlier) => earlier.code === code);
  const schema = override.paramsSchema === undefined ? (before?.params_schema ?? null) : override.paramsSchema;
  await tx.run`
    insert into device_capability_overrides (device_id, organization_id, code, supported, params_schema, updated_at)
    values (${device.id}, ${device.organization_id}, ${code}, ${supported},
      ${schema === null ? null : JSON.stringify(schema)}, ${now})
    on conflict (device_id, code) do update set
      supported = excluded.supported, params_schema = excluded.params_schema, updated_at = excluded.updated_at`;
  await recordAudit(tx, actor, now, {
    action: before ? "updated" : "created",
    model: "devicecapability",
    objectPk: device.id,
    objectRepr: code,
    changes: changesBetween(before ? { supported: before.supported, params_schema: before.params_schema } : null, {
      supported,
      params_schema: schema,
    }),
  });
}

/** What the model says counts again. Nothing happens without an override. */
export async function removeCapabilityOverride(
  tx: Tx,
  device: Target,
  code: string,
  actor: Actor,
  now: Date,
): Promise<void> {
  const before = await tx.maybeOne<CapabilityOverride & Record<string, unknown>>`
    delete from device_capability_overrides
    where organization_id = ${device.organization_id} and device_id = ${device.id} and code = ${code}
    returning code, supported, params_schema`;
  if (!before) return;
  await recordAudit(tx, actor, now, {
    action: "deleted",
    model: "devicecapability",
    objectPk: device.id,
    objectRepr: code,
    changes: changesBetween({ supported: before.supported, params_schema: before.params_schema }, null),
  });
}
