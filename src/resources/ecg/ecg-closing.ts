import type { Database, Tx } from "../../db/database.ts";
import type { Clock } from "../../lib/clock.ts";
import { uuidV7 } from "../../lib/ids.ts";
import { searchText } from "../../lib/search-text.ts";
import { eventTypes, severities } from "../events/event-types.ts";
import type { OutboundEntry } from "../outbound-events/outbound-entry.ts";
import { appendOutbound } from "../outbound-events/outbound-log.ts";
import { ecgEvent } from "./ecg-event.ts";
import { durationMs, layOut, type PartSize } from "./ecg-layout.ts";

/** A recording without a part for so long is incomplete (section 26.1, 16). */
export const stalledAfterMs = 5 * 60_000;
const batchSize = 50;

interface StalledRow {
  id: string;
  device_id: string;
  organization_id: string;
  device_uid: string;
  is_device_deleted: boolean;
  ts: Date;
  device_ts: Date | null;
  total: number;
  sampling_rate_hz: number;
  avg_hr: number | null;
  classification: string;
  quality: string;
  event_id: string | null;
}

/**
 * Ends recordings whose device has stopped sending, and tells so. Any number of workers may do it: a row that another one, or
 * a packet, has in hand is left to it.
 */
export async function closeStalledRecordings(db: Database, clock: Clock): Promise<number> {
  let total = 0;
  for (;;) {
    const closed = await db.transaction((tx) => closeSome(tx, clock.nowMs()));
    total += closed;
    if (closed < batchSize) return total;
  }
}

async function closeSome(tx: Tx, nowMs: number): Promise<number> {
  const stalled = await tx.many<StalledRow>`
    select r.id, r.device_id, r.organization_id, d.uid as device_uid,
      d.deleted_at is not null as is_device_deleted, r.ts, r.device_ts, r.total, r.sampling_rate_hz,
      r.avg_hr, r.classification, r.quality, r.event_id
    from ecg_recordings r join devices d on d.id = r.device_id
    where r.status = 'receiving' and r.last_part_at < ${new Date(nowMs - stalledAfterMs)}
    order by r.last_part_at limit ${batchSize} for update of r skip locked`;
  if (stalled.length === 0) return 0;
  const parts = await tx.many<PartSize & { recordingId: string }>`
    select recording_id as "recordingId", lead, sequence, sample_count as "sampleCount" from ecg_parts
    where (device_id, recording_id) in (
      select * from unnest(${stalled.map((row) => row.device_id)}::uuid[], ${stalled.map((row) => row.id)}::uuid[]))`;
  const told: OutboundEntry[] = [];
  for (const row of stalled) {
    const { sampleCount } = layOut(
      parts.filter(({ recordingId }) => recordingId === row.id),
      row.total,
    );
    told.push(...(await closeOne(tx, row, sampleCount, nowMs)));
  }
  await appendOutbound(tx, told, nowMs);
  return stalled.length;
}

async function closeOne(tx: Tx, row: StalledRow, sampleCount: number, nowMs: number): Promise<OutboundEntry[]> {
  // Nothing is told of a device that was deleted meanwhile; should it come back, its recording still may be.
  const isTold = row.event_id === null && !row.is_device_deleted;
  const eventId = isTold ? uuidV7(nowMs) : row.event_id;
  const duration = durationMs(sampleCount, row.sampling_rate_hz);
  await tx.run`
    update ecg_recordings set status = 'incomplete', sample_count = ${sampleCount}, duration_ms = ${duration},
      event_id = ${eventId}, revision = revision + 1
    where device_id = ${row.device_id} and organization_id = ${row.organization_id} and id = ${row.id}`;
  if (!isTold || eventId === null) return [];
  const { number, severity, title } = eventTypes.ecg_recorded;
  const { message, data, outbound } = ecgEvent(eventId, {
    id: row.id,
    ts: row.ts,
    deviceTs: row.device_ts,
    durationMs: duration,
    samplingRateHz: row.sampling_rate_hz,
    avgHr: row.avg_hr,
    classification: row.classification,
    quality: row.quality,
    status: "incomplete",
  });
  await tx.run`
    insert into events (device_id, id, organization_id, event_type, severity, ts, device_ts, title, message, data, search,
      created_at)
    values (${row.device_id}, ${eventId}, ${row.organization_id}, ${number}, ${severities[severity]}, ${row.ts},
      ${row.device_ts}, ${title}, ${message}, ${JSON.stringify(data)}, ${searchText([title, row.device_uid])},
      ${new Date(nowMs)})`;
  return [
    {
      organizationId: row.organization_id,
      type: "ecg.recorded",
      deviceUid: row.device_uid,
      occurredAtMs: row.ts.getTime(),
      data: outbound,
    },
  ];
}
