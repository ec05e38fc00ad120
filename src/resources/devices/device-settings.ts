import { type Static, Type } from "@sinclair/typebox";
import type { Db } from "../../db/database.ts";
import type { Principal } from "../../http/principal.ts";
import { Nullable, refTo, Timestamp } from "../../http/schemas.ts";
import { isSameJson } from "../../lib/same-json.ts";
import { isAtLeast } from "../../oauth/roles.ts";
import type { Capability, CommandType } from "../catalog/capability.ts";
import type { DeviceRow } from "./device-record.ts";

/** Each setting with the command that sets it (section 3.3). A device has the settings whose command it supports. */
export const settingCommands = {
  working_mode: "set_working_mode",
  report_interval_seconds: "set_report_interval",
  timezone: "set_timezone",
  sos_numbers: "set_sos_numbers",
  contacts: "set_contacts",
  fall_detection: "set_fall_detection",
  heart_rate_interval_minutes: "set_heart_rate_interval",
  temperature_interval_minutes: "set_temperature_interval",
} as const satisfies Record<string, CommandType>;

export type SettingName = keyof typeof settingCommands;
export const settingNames = Object.keys(settingCommands) as SettingName[];

/** Settings that hold phone numbers of people. */
const privateSettings: readonly SettingName[] = ["sos_numbers", "contacts"];

// A schema without a type takes every JSON value, null included.
const value = (description: string) => Type.Unsafe<unknown>({ description });

const DeviceSetting = Type.Object(
  {
    desired: value("The value last requested by a command; null before the first one."),
    reported: value("The value the device has acknowledged."),
    reported_at: Nullable(Timestamp),
    command_uuid: Nullable(Type.String({ format: "uuid", description: "The command still in progress." })),
    in_sync: Type.Boolean({
      description: "True when nothing was requested, or the device has acknowledged the request.",
    }),
    redacted: Type.Optional(
      Type.Boolean({
        description: "Present, and true, when phone numbers are hidden; the scope `devices:write` reveals them.",
      }),
    ),
  },
  { $id: "DeviceSetting" },
);
type DeviceSetting = Static<typeof DeviceSetting>;

const DeviceSettings = Type.Unsafe<Partial<Record<SettingName, DeviceSetting>>>(
  Type.Object(Object.fromEntries(settingNames.map((name) => [name, Type.Optional(refTo(DeviceSetting))])), {
    $id: "DeviceSettings",
    description: "Only settings that the device supports.",
  }),
);

export const DeviceConfig = Type.Object(
  {
    device_uid: Type.String(),
    updated_at: Nullable(Type.String({ format: "date-time", description: "Null before the first change." })),
    settings: refTo(DeviceSettings),
  },
  { $id: "DeviceConfig" },
);
export type DeviceConfig = Static<typeof DeviceConfig>;

export interface SettingRow {
  setting: SettingName;
  desired: unknown;
  reported: unknown;
  reported_at: Date | null;
  command_uuid: string | null;
  updated_at: Date;
}

export const listSettings = (db: Db, organizationId: string, deviceId: string): Promise<SettingRow[]> =>
  db.many<SettingRow>`
    select setting, desired, reported, reported_at, command_uuid, updated_at from device_settings
    where organization_id = ${organizationId} and device_id = ${deviceId}`;

export const seesPhoneNumbers = (principal: Principal): boolean =>
  principal.kind === "partner"
    ? principal.partner.scopes.has("devices:write")
    : isAtLeast(principal.person.role, "ADMIN");

export function toConfig(
  device: Pick<DeviceRow, "uid">,
  capabilities: readonly Capability[],
  rows: readonly SettingRow[],
  withPhoneNumbers: boolean,
): DeviceConfig {
  const supported = new Set(
    capabilities.flatMap(({ kind, code, supported: is }) => (kind === "command" && is ? [code] : [])),
  );
  const names = settingNames.filter((name) => supported.has(settingCommands[name]));
  const shown = rows.filter(({ setting }) => names.includes(setting));
  const settings: Partial<Record<SettingName, DeviceSetting>> = {};
  for (const name of names) {
    const isRedacted = privateSettings.includes(name) && !withPhoneNumbers;
    settings[name] = toSetting(
      shown.find(({ setting }) => setting === name),
      isRedacted,
    );
  }
  const changed = shown.map(({ updated_at }) => updated_at.getTime());
  return {
    device_uid: device.uid,
    updated_at: changed.length === 0 ? null : new Date(Math.max(...changed)).toISOString(),
    settings,
  };
}

function toSetting(row: SettingRow | undefined, isRedacted: boolean): DeviceSetting {
  const desired = row?.desired ?? null;
  const reported = row?.reported ?? null;
  return {
    desired: isRedacted ? null : desired,
    reported: isRedacted ? null : reported,
    reported_at: row?.reported_at?.toISOString() ?? null,
    command_uuid: row?.command_uuid ?? null,
    in_sync: desired === null || isSameJson(desired, reported),
    ...(isRedacted ? { redacted: true } : {}),
  };
}
