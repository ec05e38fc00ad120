import type { Database, Tx } from "../../db/database.ts";
import type { Clock } from "../../lib/clock.ts";
import { ApiError } from "../../lib/errors.ts";
import { taskActor } from "../../oauth/actor.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { capabilitiesOfDevice } from "../devices/capability-override-store.ts";
import { lockLiveDevice } from "../devices/device-store.ts";
import { createCommand } from "./command-store.ts";

const batchSize = 200;
/** A watch that did not take the new offset gets it again after this time; an acknowledgement sets the next true change. */
const retryMs = 86_400_000;

export interface TimezoneResendOptions {
  db: Database;
  clock: Clock;
  catalog: Catalog;
  commandTtlSeconds: number;
}

interface DueZone {
  organization_id: string;
  device_id: string;
}

/**
 * Watches know no daylight saving (section 8.2): a zone that was last acknowledged by its name is sent again when its offset
 * changes. The record of the device is not touched. Any number of workers may do it. Returns how many commands were made.
 */
export async function resendTimezones(options: TimezoneResendOptions): Promise<number> {
  const { db, clock } = options;
  const due = await db.many<DueZone & Record<string, unknown>>`
    select s.organization_id, s.device_id from device_settings s
    join devices d on d.id = s.device_id and d.organization_id = s.organization_id and d.deleted_at is null
    where s.send_again_at <= ${clock.now()} and s.setting = 'timezone'
      and not exists (select from commands c
        where c.device_id = s.device_id and c.command_type = 'set_timezone' and c.status in ('pending', 'sending', 'sent'))
    order by s.send_again_at limit ${batchSize}`;
  let made = 0;
  for (const zone of due) {
    try {
      if (await db.transaction((tx) => resend(tx, zone, options))) made++;
    } catch (error) {
      // A full queue is no reason to forget it: the next round tries again.
      if (!(error instanceof ApiError && error.code === "command_queue_full")) throw error;
    }
  }
  return made;
}

async function resend(
  tx: Tx,
  { organization_id, device_id }: DueZone,
  options: TimezoneResendOptions,
): Promise<boolean> {
  const { catalog, clock, commandTtlSeconds } = options;
  const now = clock.now();
  const device = await lockLiveDevice(tx, organization_id, device_id);
  if (!device) return false;
  const capabilities = await capabilitiesOfDevice(tx, device, catalog);
  const isSupported = capabilities.some(({ code, supported }) => code === "set_timezone" && supported);
  // Taken by this update: a second worker finds a later time.
  const claimed = await tx.maybeOne<{ reported: unknown }>`
    update device_settings set send_again_at = ${isSupported ? new Date(now.getTime() + retryMs) : null}
    where organization_id = ${organization_id} and device_id = ${device_id} and setting = 'timezone'
      and send_again_at <= ${now}
    returning reported`;
  if (!isSupported || typeof claimed?.reported !== "string") return false;
  const wanted = {
    deviceId: device_id,
    type: "set_timezone",
    params: { timezone: claimed.reported },
    expiresInSeconds: commandTtlSeconds,
    senderName: "",
  };
  await createCommand(tx, organization_id, wanted, taskActor(organization_id), now);
  return true;
}
