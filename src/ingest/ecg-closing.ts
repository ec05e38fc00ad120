import type { Database, Tx } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import { uuidBytes, uuidV7 } from "../lib/ids.ts";
import { noOutcomes } from "../outbox/outcome-metrics.ts";
import { durationMs, layOut, type PartSize } from "../resources/ecg/ecg-layout.ts";
import { ecgEvent, type RecordedEcg } from "./ecg-event.ts";
import { insertEvents } from "./event-store.ts";
import type { EventRow } from "./ingest-rows.ts";

/** A recording without a part for so long is incomplete (section 26.1, 16). */
export const stalledAfterMs = 5 * 60_000;
const batchSize = 50;

interface StalledRow extends RecordedEcg {
  device_id: string;
  organization_id: string;
  uid: string;
  name: string;
  is_deleted: boolean;
  total: number;
  event_id: string | null;
}

/**
 * Ends recordings whose device has stopped sending, and reports it. Any number of workers may do it: a row that another one, or
 * a packet, has in hand is left to it.
 */
export async function closeStalledRecordings(db: Database, clock: Clock, outcomes = noOutcomes): Promise<number> {
  for (let total = 0; ; ) {
    const { closed, events } = await db.transaction((tx) => closeSome(tx, clock.nowMs()));
    for (const { data } of events) outcomes.countRecording(data.status);
    total += closed;
    if (closed < batchSize) return total;
  }
}

async function closeSome(tx: Tx, nowMs: number): Promise<{ closed: number; events: EventRow[] }> {
  const stalled = await tx.many<StalledRow>`
    select r.id, r.device_id, r.organization_id, d.uid, d.name, d.deleted_at is not null as is_deleted, r.ts, r.device_ts,
      r.total, r.sampling_rate_hz, r.avg_hr, r.classification, r.quality, r.event_id
    from ecg_recordings r join devices d on d.id = r.device_id
    where r.status = 'receiving' and r.last_part_at < ${new Date(nowMs - stalledAfterMs)}
    order by r.last_part_at limit ${batchSize} for update of r skip locked`;
  if (stalled.length === 0) return { closed: 0, events: [] };
  const parts = await tx.many<PartSize & { recordingId: string }>`
    select recording_id as "recordingId", lead, sequence, sample_count as "sampleCount" from ecg_parts
    where (device_id, recording_id) in (
      select * from unnest(${stalled.map((row) => row.device_id)}::uuid[], ${stalled.map((row) => row.id)}::uuid[]))`;
  const events: EventRow[] = [];
  for (const row of stalled) {
    const own = parts.filter(({ recordingId }) => recordingId === row.id);
    const event = await closeOne(tx, row, layOut(own, row.total).sampleCount, nowMs);
    if (event) events.push(event);
  }
  await insertEvents(tx, events, nowMs);
  return { closed: stalled.length, events };
}

async function closeOne(tx: Tx, row: StalledRow, sampleCount: number, nowMs: number): Promise<EventRow | undefined> {
  // A device that was deleted in the meantime gets no event; should it come back, its recording still may.
  const newEventId = row.event_id === null && !row.is_deleted ? uuidV7(nowMs) : undefined;
  const duration_ms = durationMs(sampleCount, row.sampling_rate_hz);
  await tx.run`
    update ecg_recordings set status = 'incomplete', sample_count = ${sampleCount}, duration_ms = ${duration_ms},
      event_id = ${newEventId ?? row.event_id}, revision = revision + 1
    where device_id = ${row.device_id} and organization_id = ${row.organization_id} and id = ${row.id}`;
  if (newEventId === undefined) return undefined;
  const { device_id: id, organization_id: organizationId, uid, name } = row;
  const hold = {
    device: { id, organizationId, uid, name },
    deviceIdBytes: uuidBytes(id),
    organizationIdBytes: uuidBytes(organizationId),
  };
  return ecgEvent(hold, newEventId, { ...row, duration_ms, status: "incomplete" }, nowMs);
}
