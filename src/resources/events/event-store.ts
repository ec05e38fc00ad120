import type { Db, Tx } from "../../db/database.ts";
import { allOf, type Sql, sql } from "../../db/sql.ts";
import type { Principal } from "../../http/principal.ts";
import { notFound } from "../../lib/errors.ts";
import type { Actor } from "../../oauth/actor.ts";
import { isAtLeast } from "../../oauth/roles.ts";
import { refuseViewer } from "../assignments/operable-device.ts";
import { changesBetween, recordAudit } from "../audit/audit-store.ts";
import {
  type EventDetailRow,
  type EventRow,
  eventDetailColumns,
  eventTables,
  eventTypeLabel,
  severityLabel,
  toEventDetail,
  withoutAddresses,
} from "./event-record.ts";

const seesAll = (principal: Principal): boolean =>
  principal.kind === "partner" || isAtLeast(principal.person.role, "ADMIN");

/** Those of the organization, deleted devices included; of people below ADMIN only those of devices assigned to them. */
export function visibleEvents(principal: Principal): Sql {
  const organizationId = principal.organization.id;
  const own = sql`e.organization_id = ${organizationId} and e.deleted_at is null`;
  if (seesAll(principal)) return own;
  return sql`${own} and e.device_id in (
    select a.device_id from assignments a
    where a.organization_id = ${organizationId} and a.user_id = ${principal.id} and a.is_active)`;
}

/** What the caller may see of the event: partners, and who holds the device, do not see everything. */
export function visibleRow<Row extends EventRow>(principal: Principal, row: Row): Row {
  return principal.kind === "person" && isAtLeast(principal.person.role, "ADMIN") ? row : withoutAddresses(row);
}

/** An event that the caller may not see is not found, as one that does not exist. */
export async function getVisibleEvent(db: Db, principal: Principal, id: string): Promise<EventDetailRow> {
  const row = await db.maybeOne<EventDetailRow>(sql`
    select ${eventDetailColumns} from ${eventTables} where ${allOf([visibleEvents(principal), sql`e.id = ${id}`])}`);
  if (!row) throw notFound();
  return row;
}

/** Who holds a device as viewer looks at its events and does nothing with them. */
export async function getOperableEvent(db: Db, principal: Principal, id: string): Promise<EventDetailRow> {
  const row = await getVisibleEvent(db, principal, id);
  await refuseViewer(db, principal, { id: row.device_id, organization_id: row.organization_id });
  return row;
}

async function lockEvent(tx: Tx, organizationId: string, id: string): Promise<EventDetailRow> {
  const row = await tx.maybeOne<EventDetailRow>(sql`
    select ${eventDetailColumns} from ${eventTables}
    where e.organization_id = ${organizationId} and e.id = ${id} and e.deleted_at is null
    for update of e`);
  if (!row) throw notFound();
  return row;
}

/** What the audit log says of an event: what it was and who took care of it, not what it says of a person's health or place. */
const auditView = (row: EventDetailRow): Record<string, unknown> => {
  const { acknowledged, acknowledged_at, acknowledged_by, notes } = toEventDetail(row);
  return {
    device: row.device_uid,
    event_type: eventTypeLabel(row.event_type),
    severity: severityLabel(row.severity),
    ts: row.ts.toISOString(),
    acknowledged,
    acknowledged_at,
    acknowledged_by,
    notes,
  };
};

export interface Acknowledgement {
  /** Undefined leaves them as they are. */
  notes: string | null | undefined;
  /** Refuses what the caller may not change, once it is known what the record was and will be. */
  approve(before: EventDetailRow, after: EventDetailRow): void;
}

/** Time and author are those of the first call, also among parallel ones; notes are those of the last that sent any. */
export async function acknowledgeEvent(
  tx: Tx,
  organizationId: string,
  id: string,
  { notes, approve }: Acknowledgement,
  actor: Actor,
  now: Date,
): Promise<EventDetailRow> {
  const before = await lockEvent(tx, organizationId, id);
  const first =
    before.acknowledged_at === null
      ? { acknowledged_at: now, acknowledged_by: actor.by.type === "users" ? actor.by.id : null }
      : {};
  const after: EventDetailRow = { ...before, ...first, notes: notes === undefined ? before.notes : notes };
  approve(before, after);
  const changes = changesBetween(auditView(before), auditView(after));
  if (Object.keys(changes).length === 0) return before;
  await tx.run`
    update events set acknowledged_at = ${after.acknowledged_at}, acknowledged_by = ${after.acknowledged_by},
      notes = ${after.notes}
    where organization_id = ${organizationId} and device_id = ${before.device_id} and id = ${id}`;
  await recordAudit(tx, actor, now, { action: "updated", ...auditedObject(after), changes });
  return after;
}

/** Soft: the row stays, and what was sent to partners can still be replayed. */
export async function deleteEvent(tx: Tx, organizationId: string, id: string, actor: Actor, now: Date): Promise<void> {
  const event = await lockEvent(tx, organizationId, id);
  await tx.run`
    update events set deleted_at = ${now}
    where organization_id = ${organizationId} and device_id = ${event.device_id} and id = ${id}`;
  const changes = changesBetween(auditView(event), null);
  await recordAudit(tx, actor, now, { action: "deleted", ...auditedObject(event), changes });
}

const auditedObject = (row: EventDetailRow) =>
  ({ model: "event", objectPk: row.id, objectRepr: eventTypeLabel(row.event_type) }) as const;
