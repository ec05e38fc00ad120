import type { Db, Tx } from "../../db/database.ts";
import type { Actor } from "../../oauth/actor.ts";
import { recordAudit } from "../audit/audit-store.ts";
import { dropSession } from "./device-sessions.ts";
import { type DeviceRow, findLiveDeviceAnywhere, refuseTakenTerminal, terminalKeys } from "./device-store.ts";
import { defaultTerminalId } from "./terminal-id.ts";

/** For operators, who see all organizations and solve conflicts of terminal ids between them (decisions 30). */

/** Gives the device an id, or null to take its id away. Throws terminal_id_conflict when another device holds it. */
export async function moveTerminalId(
  tx: Tx,
  device: DeviceRow,
  terminalId: string | null,
  actor: Actor,
  now: Date,
): Promise<void> {
  if (device.terminal_id === terminalId) return;
  const values = { protocol_slug: device.protocol_slug, terminal_id: terminalId };
  await refuseTakenTerminal(tx, device.id, device.uid, values);
  await tx.run`
    update devices set terminal_id = ${terminalId}, terminal_key = ${terminalKeys(device.uid, values).terminal_key},
      updated_at = ${now}
    where organization_id = ${device.organization_id} and id = ${device.id}`;
  await dropSession(tx, device.organization_id, device.id, now);
  await recordAudit(tx, actor, now, {
    action: "updated",
    model: "device",
    objectPk: device.id,
    objectRepr: device.uid,
    changes: { terminal_id: [device.terminal_id, terminalId] },
  });
}

export type TerminalDescription = {
  uid: string;
  org: string;
  protocol: string;
  terminal_id: string | null;
  default_terminal_id: string | null;
  /** The other device that holds the default; null: nobody. */
  default_held_by: string | null;
};

export async function describeTerminal(db: Db, uid: string): Promise<TerminalDescription> {
  const device = (await findLiveDeviceAnywhere(db, uid)) as DeviceRow;
  const { slug } = await db.one<{ slug: string }>`select slug from organizations where id = ${device.organization_id}`;
  const { terminal_default_key: key } = terminalKeys(uid, device);
  const holder = await db.maybeOne<{ uid: string }>`
    select uid from devices
    where protocol_slug = ${device.protocol_slug} and terminal_key = ${key} and deleted_at is null and uid <> ${uid}`;
  return {
    uid,
    org: slug,
    protocol: device.protocol_slug,
    terminal_id: device.terminal_id,
    default_terminal_id: defaultTerminalId(uid, device.protocol_slug),
    default_held_by: holder?.uid ?? null,
  };
}
