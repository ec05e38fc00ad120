import { namedStatement, type Statement } from "../db/sql.ts";
import { formatUuid } from "../lib/ids.ts";
import { insertNumbered, type TraceOfFact, type UnnumberedRow } from "../outbox/numbered-rows.ts";
import { factOf } from "../outbox/outbound-entry.ts";
import type { Lane } from "../outbox/outbound-lanes.ts";
import { OutboundWriter } from "../outbox/outbound-log.ts";
import type { WebhookEventType } from "../outbox/webhook-event-types.ts";
import { eventTypes } from "../resources/events/event-types.ts";
import { locationUpdateJson } from "../resources/locations/location-envelope.ts";
import { healthSnapshotJson, isHealthSnapshot } from "../resources/telemetry/health-envelope.ts";
import type { BatchRows, EventOwner } from "./ingest-rows.ts";

const outboundTypes = new Map<number, WebhookEventType>(
  Object.values(eventTypes).flatMap(({ number, outboundType }) => (outboundType ? [[number, outboundType]] : [])),
);

/** What a batch tells partners. */
export interface BatchOutbound {
  /** To be asked as the last ones before the commit, and in one message with it: whoever else writes to these lanes waits from then on. */
  statements: Statement[];
  /** The integrations whose workers are to be woken after the commit. */
  pushed: string[];
}

export function outboundOf(
  lanes: readonly Lane[],
  rows: BatchRows,
  nowMs: number,
  traceOf: TraceOfFact | null = null,
): BatchOutbound {
  if (lanes.length === 0) return { statements: [], pushed: [] };
  const writer = new OutboundWriter(lanes);
  addFacts(writer, rows);
  const insert = (rows: UnnumberedRow[]): Statement =>
    namedStatement("ingest_outbound", insertNumbered(rows, nowMs, traceOf));
  return { statements: Array.from(writer.parts(), insert), pushed: writer.pushed() };
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
