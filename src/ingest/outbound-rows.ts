import { CopyRows } from "../db/copy-in.ts";
import { namedStatement, type Statement } from "../db/sql.ts";
import { formatUuid, uuidBytes } from "../lib/ids.ts";
import { factOf } from "../outbox/outbound-entry.ts";
import { type Lane, reserveLanes } from "../outbox/outbound-lanes.ts";
import { OutboundWriter, outboundChannel } from "../outbox/outbound-log.ts";
import type { WebhookEventType } from "../outbox/webhook-event-types.ts";
import { eventTypes } from "../resources/events/event-types.ts";
import { locationUpdateJson } from "../resources/locations/location-envelope.ts";
import { healthSnapshotJson, isHealthSnapshot } from "../resources/telemetry/health-envelope.ts";
import type { BatchRows, EventOwner } from "./ingest-rows.ts";
import type { TraceOfFact } from "./packet-traces.ts";

const outboundTypes = new Map<number, WebhookEventType>(
  Object.values(eventTypes).flatMap(({ number, outboundType }) => (outboundType ? [[number, outboundType]] : [])),
);

/** What a batch tells partners: rows to copy, and statements that wake who pushes them. */
export interface BatchOutbound {
  copy: CopyRows;
  wakeUps: string[];
}

/**
 * Locks the lanes of the organizations that the batch has something to tell of. To be asked as the last thing before the outbound
 * rows and the commit: whoever else writes to these lanes waits from then on. Undefined: there is nothing to tell.
 */
export function lockLanes(rows: BatchRows, nowMs: number): Statement | undefined {
  const counts = countsOf(rows);
  return counts.size === 0 ? undefined : namedStatement("ingest_outbound", reserveLanes(counts, nowMs));
}

export function outboundOf(lanes: readonly Lane[], rows: BatchRows, traceOf?: TraceOfFact): BatchOutbound {
  const writer = new OutboundWriter(lanes);
  if (!writer.isIdle) addFacts(writer, rows);
  // Both values are made by the program, and a text of several statements takes no parameters.
  const wakeUps = writer.pushed().map((id) => `select pg_notify('${outboundChannel}', '${id}')`);
  return { copy: copyOf(writer.rows, traceOf), wakeUps };
}

/** The maximum number of rows for each integration of an organization. */
function countsOf({ locations, telemetry, events, outbound }: BatchRows): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (organizationId: string): void => {
    counts.set(organizationId, (counts.get(organizationId) ?? 0) + 1);
  };
  for (const { hold, invalidReason } of locations) if (invalidReason === null) count(hold.device.organizationId);
  for (const { hold, data } of telemetry) if (isHealthSnapshot(data)) count(hold.device.organizationId);
  for (const { hold, outbound: eventType } of events) if (eventType !== null) count(hold.device.organizationId);
  for (const { organizationId } of outbound) count(organizationId);
  return counts;
}

const headOf = <T extends WebhookEventType>({ device }: EventOwner, type: T, occurredAtMs: number) => ({
  organizationId: device.organizationId,
  type,
  deviceUid: device.uid,
  occurredAtMs,
});

function addFacts(writer: OutboundWriter, { locations, telemetry, events, outbound }: BatchRows): void {
  for (const row of locations) {
    if (row.invalidReason !== null || !writer.wants(row.hold.device.organizationId, "location.update")) continue;
    const json = locationUpdateJson(row, formatUuid(row.id), "gps", writer.iso);
    writer.add({ ...headOf(row.hold, "location.update", row.tsMs), json });
  }
  for (const row of telemetry) {
    if (!isHealthSnapshot(row.data) || !writer.wants(row.hold.device.organizationId, "health.snapshot")) continue;
    const json = healthSnapshotJson(row, formatUuid(row.id), writer.iso);
    writer.add({ ...headOf(row.hold, "health.snapshot", row.receivedAtMs), json });
  }
  for (const { hold, typeNumber, tsMs, outbound: data } of events) {
    const type = outboundTypes.get(typeNumber);
    if (data !== null && type) writer.add(factOf({ ...headOf(hold, type, tsMs), data }));
  }
  for (const entry of outbound) writer.add(factOf(entry));
}

/** A row is somewhat smaller; memory that grows by doubling is copied as often. */
const rowBytes = 768;

function copyOf(rows: OutboundWriter["rows"], traceOf?: TraceOfFact): CopyRows {
  const columns = "integration_id id organization_id device_uid type occurred_at push_epoch body trace".split(" ");
  const copy = new CopyRows("outbound_events", columns, rows.length * rowBytes);
  const known = new Map<Lane, { integrationId: Buffer; organizationId: Buffer }>();
  for (const { lane, id, fact, body } of rows) {
    let bytes = known.get(lane);
    if (!bytes) {
      bytes = { integrationId: uuidBytes(lane.integrationId), organizationId: uuidBytes(lane.organizationId) };
      known.set(lane, bytes);
    }
    const writer = copy.row().uuid(bytes.integrationId).uuid(id.bytes).uuid(bytes.organizationId);
    writer.text(fact.deviceUid).text(fact.type).timestamptz(fact.occurredAtMs).int4(lane.pushEpoch).text(body);
    writer.text(traceOf ? traceOf(fact) : null);
  }
  return copy;
}
