import type { Db, Tx } from "../../db/database.ts";
import { nextOffsetChange } from "../../lib/zone-offset.ts";
import type { CommandRow } from "./command-record.ts";
import { reportIntervalOf, settingOf } from "./command-types.ts";

/** The settings of devices as commands move them (section 3.3): asked for at creation, reported at the acknowledgement. */

export async function askForSetting(tx: Tx, command: Settled, now: Date): Promise<void> {
  const wanted = settingOf(command.command_type, command.params);
  if (!wanted) return;
  await tx.run`
    insert into device_settings (device_id, organization_id, setting, desired, command_uuid, updated_at)
    values (${command.device_id}, ${command.organization_id}, ${wanted.setting}, ${JSON.stringify(wanted.value)},
      ${command.id}, ${now})
    on conflict (device_id, setting) do update set
      desired = excluded.desired, command_uuid = excluded.command_uuid, updated_at = excluded.updated_at`;
}

type Settled = Pick<CommandRow, "id" | "device_id" | "organization_id" | "command_type" | "params">;

/**
 * After commands have become final or were deleted. Only rows that exist are written: a new one would ask for the lock of the
 * device, which whoever deletes the device holds while waiting for the state that a batch of packets has locked.
 */
export async function settleSettings(
  db: Db,
  commands: readonly CommandRow[],
  timeOf: (command: CommandRow) => Date,
): Promise<void> {
  const rows = commands.flatMap((command) => {
    const wanted = settingOf(command.command_type, command.params);
    if (!wanted) return [];
    const isReported = command.status === "ack_ok";
    const at = timeOf(command);
    return [
      {
        command,
        ...wanted,
        isReported,
        at,
        sendAgainAt: isReported ? sendAgainAt(wanted, command.sent_at ?? at) : null,
      },
    ];
  });
  if (rows.length === 0) return;
  await db.run`
    update device_settings s set
      reported = case when n.is_reported then n.value::jsonb else s.reported end,
      reported_at = case when n.is_reported then n.at else s.reported_at end,
      send_again_at = case when n.is_reported then n.send_again_at else s.send_again_at end,
      command_uuid = (select c.id from commands c
        where c.device_id = s.device_id and c.command_type = n.command_type and c.status in ('pending', 'sending', 'sent')
        order by c.number desc limit 1),
      updated_at = n.at
    from unnest(${rows.map(({ command }) => command.device_id)}::uuid[], ${rows.map(({ setting }) => setting)}::text[],
      ${rows.map(({ command }) => command.command_type)}::text[], ${rows.map(({ isReported }) => isReported)}::bool[],
      ${rows.map(({ value }) => JSON.stringify(value))}::text[],
      ${rows.map((row) => row.sendAgainAt)}::timestamptz[], ${rows.map(({ at }) => at)}::timestamptz[])
      as n(device_id, setting, command_type, is_reported, value, send_again_at, at)
    where s.device_id = n.device_id and s.setting = n.setting`;
}

/** Of a zone by its name: when the offset that was true at the first write no longer is. */
function sendAgainAt({ setting, value }: { setting: string; value: unknown }, writtenAt: Date): Date | null {
  if (setting !== "timezone" || typeof value !== "string") return null;
  const changeMs = nextOffsetChange(value, writtenAt.getTime());
  return changeMs === undefined ? null : new Date(changeMs);
}

/** The interval that a device has acknowledged widens the silence after which it counts as offline (section 3.1). */
export async function settleReportIntervals(db: Db, acknowledged: readonly CommandRow[]): Promise<void> {
  const rows = acknowledged.flatMap(({ device_id, organization_id, command_type, params, protocol_slug }) => {
    const seconds = reportIntervalOf(command_type, params, protocol_slug);
    return seconds === undefined ? [] : [{ device_id, organization_id, seconds }];
  });
  if (rows.length === 0) return;
  await db.run`
    update device_state s set report_interval_seconds = n.seconds
    from unnest(${rows.map((row) => row.device_id)}::uuid[], ${rows.map((row) => row.organization_id)}::uuid[],
      ${rows.map((row) => row.seconds)}::int[]) as n(device_id, organization_id, seconds)
    where s.device_id = n.device_id and s.organization_id = n.organization_id`;
}
