import type { Client } from "pg";
import type { EcgPart } from "../codecs/tracker-message.ts";
import { searchText } from "../lib/search-text.ts";
import { durationMs, type PartSize } from "../resources/ecg/ecg-layout.ts";
import type { EcgStatus } from "../resources/ecg/ecg-record.ts";
import type { DeviceHold } from "./device-memory.ts";

export interface KnownRecording {
  id: string;
  device_id: string;
  transfer: string;
  total: number;
  sampling_rate_hz: number;
  scale_uv: number;
  ts: Date;
  device_ts: Date | null;
  started_at: Date;
  last_part_at: Date;
  status: EcgStatus;
  sample_count: number;
  leads: string[];
  avg_hr: number | null;
  classification: string;
  quality: string;
  gain: number | null;
  event_id: string | null;
}

export interface TakenPart {
  hold: DeviceHold;
  part: EcgPart;
  receivedAtMs: number;
}

/** A recording that a part of this batch belongs to. */
export interface OpenRecording extends KnownRecording {
  hold: DeviceHold;
  isNew: boolean;
  parts: TakenPart[];
}

/** Recordings that parts may belong to, and all that are under way on the same devices. One writer per device: its packets. */
export async function lockRecordings(client: Client, taken: readonly TakenPart[]): Promise<KnownRecording[]> {
  const { rows } = await client.query<KnownRecording>({
    name: "ecg_lock",
    text: `select id, device_id, transfer, total, sampling_rate_hz, scale_uv, ts, device_ts, started_at, last_part_at, status,
        sample_count, leads, avg_hr, classification, quality, (device_info->>'gain')::float8 as gain, event_id
      from ecg_recordings
      where device_id = any($1::uuid[]) and (status = 'receiving' or transfer = any($2::text[]))
      order by device_id, id for update`,
    values: [
      [...new Set(taken.map(({ hold }) => hold.device.id))],
      [...new Set(taken.map(({ part }) => part.transfer))],
    ],
  });
  // Of several with the same name the newest is meant.
  return rows.reverse();
}

export async function insertRecordings(client: Client, rows: readonly OpenRecording[], nowMs: number): Promise<void> {
  if (rows.length === 0) return;
  await client.query({
    name: "ecg_begin",
    text: `insert into ecg_recordings (device_id, id, organization_id, transfer, total, sampling_rate_hz, scale_uv, ts,
        device_ts, started_at, received_at, last_part_at, status, sample_count, duration_ms, leads, classification, quality,
        device_info, revision, search)
      select d, i, o, n, t, r, s, ts, dts, st, $12, ts, 'receiving', 0, 0, '{}', c, q, info, 0, $15
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::int[], $6::float8[], $7::float8[], $8::timestamptz[],
        $9::timestamptz[], $10::timestamptz[], $11::jsonb[], $13::text[], $14::text[])
        as u(d, i, o, n, t, r, s, ts, dts, st, info, c, q)`,
    values: [
      rows.map((row) => row.device_id),
      rows.map((row) => row.id),
      rows.map((row) => row.hold.device.organizationId),
      rows.map((row) => row.transfer),
      rows.map((row) => row.total),
      rows.map((row) => row.sampling_rate_hz),
      rows.map((row) => row.scale_uv),
      rows.map((row) => row.ts),
      rows.map((row) => row.device_ts),
      rows.map((row) => row.started_at),
      rows.map((row) => JSON.stringify(row.gain === null ? {} : { gain: row.gain })),
      new Date(nowMs),
      rows.map((row) => row.classification),
      rows.map((row) => row.quality),
      searchText(["not_analyzed"]),
    ],
  });
}

/** A part that is there already stays as it came first. Answers the recordings that have grown. */
export async function insertParts(client: Client, recordings: readonly OpenRecording[]): Promise<ReadonlySet<string>> {
  const rows = recordings.flatMap(({ id, parts }) => parts.map((taken) => ({ id, ...taken })));
  const inserted = await client.query<[string]>({
    name: "ecg_parts",
    text: `insert into ecg_parts (device_id, recording_id, organization_id, lead, sequence, sample_count, samples, received_at)
      select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int2[], $5::int2[], $6::int[], $7::bytea[],
        $8::timestamptz[])
      on conflict do nothing returning recording_id`,
    values: [
      rows.map(({ hold }) => hold.device.id),
      rows.map(({ id }) => id),
      rows.map(({ hold }) => hold.device.organizationId),
      rows.map(({ part }) => part.lead),
      rows.map(({ part }) => part.sequence),
      rows.map(({ part }) => part.samples.length),
      rows.map(({ part }) => bytesOf(part.samples)),
      rows.map(({ receivedAtMs }) => new Date(receivedAtMs)),
    ],
    rowMode: "array",
  });
  return new Set(inserted.rows.map(([id]) => id));
}

function bytesOf(samples: readonly number[]): Buffer {
  const bytes = Buffer.alloc(samples.length * 2);
  for (const [index, sample] of samples.entries()) bytes.writeInt16BE(sample, index * 2);
  return bytes;
}

export async function partSizes(
  client: Client,
  recordings: readonly OpenRecording[],
): Promise<ReadonlyMap<string, PartSize[]>> {
  const { rows } = await client.query<PartSize & { recordingId: string }>({
    name: "ecg_sizes",
    text: `select recording_id as "recordingId", lead, sequence, sample_count as "sampleCount" from ecg_parts
      where (device_id, recording_id) in (select * from unnest($1::uuid[], $2::uuid[]))`,
    values: [recordings.map((row) => row.device_id), recordings.map((row) => row.id)],
  });
  const sizes = new Map<string, PartSize[]>();
  for (const row of rows) {
    const others = sizes.get(row.recordingId);
    if (others) others.push(row);
    else sizes.set(row.recordingId, [row]);
  }
  return sizes;
}

export async function updateRecordings(client: Client, rows: readonly OpenRecording[]): Promise<void> {
  await client.query({
    name: "ecg_update",
    text: `update ecg_recordings r set last_part_at = u.last, status = u.status, sample_count = u.samples,
        duration_ms = u.duration, leads = string_to_array(u.leads, ','), event_id = u.event, revision = r.revision + 1
      from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::int[], $6::int8[], $7::text[], $8::uuid[])
        as u(device, id, last, status, samples, duration, leads, event)
      where r.device_id = u.device and r.id = u.id`,
    values: [
      rows.map((row) => row.device_id),
      rows.map((row) => row.id),
      rows.map((row) => row.last_part_at),
      rows.map((row) => row.status),
      rows.map((row) => row.sample_count),
      rows.map((row) => durationMs(row.sample_count, row.sampling_rate_hz)),
      rows.map((row) => row.leads.join(",")),
      rows.map((row) => row.event_id),
    ],
  });
}
