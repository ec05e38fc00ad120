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

export interface AcceptedPart {
  hold: DeviceHold;
  part: EcgPart;
  receivedAtMs: number;
  refuse(): void;
}

/** A recording that a part of this batch belongs to. */
export interface OpenRecording extends KnownRecording {
  hold: DeviceHold;
  isNew: boolean;
  /** Those that are not there yet. */
  parts: AcceptedPart[];
}

const columns = `r.id, r.device_id, r.transfer, r.total, r.sampling_rate_hz, r.scale_uv, r.ts, r.device_ts, r.started_at,
  r.last_part_at, r.status, r.sample_count, r.leads, r.avg_hr, r.classification, r.quality,
  (r.device_info->>'gain')::float8 as gain, r.event_id`;

/**
 * The newest recording of each form that parts have, and no other: a device may have thousands of one name. One writer per
 * device, its packets.
 */
export async function lockRecordings(client: Client, forms: readonly AcceptedPart[]): Promise<KnownRecording[]> {
  const { rows } = await client.query<KnownRecording>({
    name: "ecg_lock",
    text: `select ${columns} from unnest($1::uuid[], $2::text[], $3::int[], $4::float8[], $5::float8[])
        as f(device_id, transfer, total, rate, scale)
      cross join lateral (
        select * from ecg_recordings e
        where e.device_id = f.device_id and e.transfer = f.transfer and e.total = f.total
          and e.sampling_rate_hz = f.rate and e.scale_uv = f.scale
        order by e.id desc limit 1 for update
      ) r`,
    values: [
      forms.map(({ hold }) => hold.device.id),
      forms.map(({ part }) => part.transfer),
      forms.map(({ part }) => part.total),
      forms.map(({ part }) => part.samplingRateHz),
      forms.map(({ part }) => part.scaleUv),
    ],
  });
  return rows;
}

/** Recordings that are in progress on these devices: a bounded number each. */
export async function openRecordings(client: Client, deviceIds: readonly string[]): Promise<KnownRecording[]> {
  const { rows } = await client.query<KnownRecording>({
    name: "ecg_open",
    text: `select ${columns} from ecg_recordings r where device_id = any($1::uuid[]) and status = 'receiving'
      order by device_id, last_part_at`,
    values: [deviceIds],
  });
  return rows;
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

/** A part that is there already stays as it came first. */
export async function insertParts(client: Client, recordings: readonly OpenRecording[]): Promise<void> {
  const rows = recordings.flatMap(({ id, parts }) => parts.map((taken) => ({ id, ...taken })));
  if (rows.length === 0) return;
  await client.query({
    name: "ecg_parts",
    text: `insert into ecg_parts (device_id, recording_id, organization_id, lead, sequence, sample_count, samples, received_at)
      select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int2[], $5::int2[], $6::int[], $7::bytea[],
        $8::timestamptz[])
      on conflict do nothing`,
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
  });
}

function bytesOf(samples: readonly number[]): Buffer {
  const bytes = Buffer.alloc(samples.length * 2);
  for (const [index, sample] of samples.entries()) bytes.writeInt16BE(sample, index * 2);
  return bytes;
}

export async function partSizes(
  client: Client,
  recordings: readonly KnownRecording[],
): Promise<ReadonlyMap<string, PartSize[]>> {
  if (recordings.length === 0) return new Map();
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
