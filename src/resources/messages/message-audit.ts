import type { Tx } from "../../db/database.ts";
import { type Actor, taskActor } from "../../oauth/actor.ts";
import { changesBetween, recordAudit } from "../audit/audit-store.ts";
import type { DeliveryStatus, MessageRow } from "./message-record.ts";

/** What the audit log says of a message, without texts and names: that something was said, not what. */
const auditView = (row: MessageRow): Record<string, unknown> => ({
  device: row.device_uid,
  direction: row.direction,
  message_type: row.message_type,
  is_tts: row.is_tts,
});

const auditedObject = (row: MessageRow) =>
  ({ model: "devicemessage", objectPk: row.id, objectRepr: row.message_type }) as const;

export const recordMessage = (
  tx: Tx,
  action: "created" | "deleted",
  row: MessageRow,
  actor: Actor,
  now: Date,
): Promise<void> =>
  recordAudit(tx, actor, now, {
    action,
    ...auditedObject(row),
    changes: action === "created" ? changesBetween(null, auditView(row)) : changesBetween(auditView(row), null),
  });

/** A message that the service itself has given up, as it is now. */
export const recordGivenUp = (tx: Tx, row: MessageRow, before: DeliveryStatus, now: Date): Promise<void> =>
  recordAudit(tx, taskActor(row.organization_id), now, {
    action: "updated",
    ...auditedObject(row),
    changes: { device_delivery_status: [before, row.status], failure_reason: [null, row.failure_reason] },
  });
