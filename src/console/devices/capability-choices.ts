import { Type } from "@sinclair/typebox";
import type { Db } from "../../db/database.ts";
import type { Capability } from "../../resources/catalog/capability.ts";
import type { Catalog } from "../../resources/catalog/catalog.ts";
import { capabilitiesOfDevice } from "../../resources/devices/capability-override-store.ts";
import type { DeviceRow } from "../../resources/devices/device-store.ts";

export const CapabilityChoice = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 100 }),
  /** Null: what the model says counts again. */
  supported: Type.Unsafe<boolean | null>({ type: "boolean", nullable: true }),
});

/** A capability that a device can be given or denied, and what its model says of it. */
export interface DeviceCapabilityChoice extends Pick<Capability, "code" | "label" | "kind" | "category" | "supported"> {
  overridden: boolean;
  supported_by_model: boolean;
}

/** All that any model knows, with what counts for this device. */
export async function listCapabilityChoices(
  db: Db,
  device: DeviceRow,
  catalog: Catalog,
): Promise<DeviceCapabilityChoice[]> {
  const own = new Map((await capabilitiesOfDevice(db, device, catalog)).map((one) => [one.code, one]));
  const isKnown = catalog.findModel(device.device_model_slug) !== undefined;
  const ofModel = new Map(
    (isKnown ? catalog.capabilitiesOf(device.device_model_slug) : []).map((one) => [one.code, one]),
  );
  const codes = new Set(catalog.models.flatMap(({ slug }) => catalog.capabilitiesOf(slug).map(({ code }) => code)));
  return [...codes].toSorted().flatMap((code) => {
    const shown = own.get(code) ?? catalog.findCapability(code);
    if (!shown) return [];
    const { label, kind, category, supported, overridden } = shown;
    return [
      { code, label, kind, category, supported, overridden, supported_by_model: ofModel.get(code)?.supported ?? false },
    ];
  });
}
