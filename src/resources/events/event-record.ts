import { type Static, Type } from "@sinclair/typebox";
import { sql } from "../../db/sql.ts";
import { FreeObject, Nullable, refTo, StringEnum, Timestamp, Uuid } from "../../http/schemas.ts";
import { LocationSource } from "../devices/location-source.ts";
import { type EventTypeName, eventTypes, type Severity, severities } from "./event-types.ts";

export const eventTypeNames = Object.keys(eventTypes) as EventTypeName[];
export const severityNames = Object.keys(severities) as Severity[];

export const EventTypeLabel = StringEnum("EventTypeEnum", eventTypeNames);
export const EventSeverity = StringEnum("EventSeverityEnum", severityNames);

export const EventLocation = Type.Object({
  lat: Type.Number(),
  lng: Type.Number(),
  accuracy_m: Nullable(Type.Number()),
  source: refTo(LocationSource),
  ts: Timestamp,
});

const eventFields = {
  id: Uuid,
  event_type: refTo(EventTypeLabel),
  severity: refTo(EventSeverity),
  ts: Type.String({ format: "date-time", description: "When it happened; server time for what the server observes." }),
  device_ts: Nullable(Type.String({ format: "date-time", description: "The device's clock, as sent." })),
  device: Uuid,
  device_uid: Type.String({ description: "IMEI, 15 digits." }),
  title: Type.String(),
  message: Type.String(),
  fence_id: Nullable(Uuid),
  fence_name: Nullable(Type.String({ description: "As it was when the event was created." })),
  threshold_id: Nullable(Uuid),
  metric_key: Nullable(Type.String()),
  value: Nullable(Type.Number()),
  location: Nullable(EventLocation),
  data: FreeObject,
  acknowledged: Type.Boolean(),
  acknowledged_at: Nullable(Timestamp),
  acknowledged_by: Nullable(
    Type.String({
      format: "uuid",
      description: "The person who acknowledged it; null for a partner, and until someone has.",
    }),
  ),
  created_at: Timestamp,
};

export const Event = Type.Object(eventFields, { $id: "Event" });
export type Event = Static<typeof Event>;

export const EventDetail = Type.Object({ ...eventFields, notes: Nullable(Type.String()) }, { $id: "EventDetail" });
export type EventDetail = Static<typeof EventDetail>;

export interface EventRow {
  id: string;
  organization_id: string;
  device_id: string;
  device_uid: string;
  event_type: number;
  severity: number;
  ts: Date;
  device_ts: Date | null;
  title: string;
  message: string;
  fence_id: string | null;
  fence_name: string | null;
  threshold_id: string | null;
  metric_key: string | null;
  value: number | null;
  location: Event["location"];
  data: Record<string, unknown>;
  acknowledged_at: Date | null;
  acknowledged_by: string | null;
  created_at: Date;
}

export interface EventDetailRow extends EventRow {
  notes: string | null;
}

/** Columns and tables of an EventRow. A deleted device keeps its row, and its events keep their IMEI. */
export const eventColumns = sql`e.id, e.organization_id, e.device_id, d.uid as device_uid, e.event_type, e.severity, e.ts,
  e.device_ts, e.title, e.message, e.fence_id, e.fence_name, e.threshold_id, e.metric_key, e.value, e.location, e.data,
  e.acknowledged_at, e.acknowledged_by, e.created_at`;
export const eventDetailColumns = sql`${eventColumns}, e.notes`;
export const eventTables = sql`events e
  join devices d on d.id = e.device_id and d.organization_id = e.organization_id`;

const typesByNumber = new Map(eventTypeNames.map((name) => [eventTypes[name].number as number, name]));
const severitiesByNumber = new Map(severityNames.map((name) => [severities[name] as number, name]));

export function eventTypeLabel(number: number): EventTypeName {
  const label = typesByNumber.get(number);
  if (!label) throw new Error(`unknown event type number ${number}`);
  return label;
}

export function severityLabel(number: number): Severity {
  const label = severitiesByNumber.get(number);
  if (!label) throw new Error(`unknown severity number ${number}`);
  return label;
}

/** For everybody but ADMINs: the addresses of a contested connection are theirs alone (section 30). */
export function withoutAddresses<Row extends EventRow>(row: Row): Row {
  if (!("addresses" in row.data)) return row;
  const { addresses: _, ...data } = row.data;
  return { ...row, data };
}

export const toEvent = (row: EventRow): Event => ({
  id: row.id,
  event_type: eventTypeLabel(row.event_type),
  severity: severityLabel(row.severity),
  ts: row.ts.toISOString(),
  device_ts: row.device_ts?.toISOString() ?? null,
  device: row.device_id,
  device_uid: row.device_uid,
  title: row.title,
  message: row.message,
  fence_id: row.fence_id,
  fence_name: row.fence_name,
  threshold_id: row.threshold_id,
  metric_key: row.metric_key,
  value: row.value,
  location: row.location,
  data: row.data,
  acknowledged: row.acknowledged_at !== null,
  acknowledged_at: row.acknowledged_at?.toISOString() ?? null,
  acknowledged_by: row.acknowledged_by,
  created_at: row.created_at.toISOString(),
});

export const toEventDetail = (row: EventDetailRow): EventDetail => ({ ...toEvent(row), notes: row.notes });
