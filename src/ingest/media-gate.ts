import type { Client } from "pg";
import type { Db } from "../db/database.ts";
import { type AcceptedPacket, type BatchStep, byDeviceId } from "./batch-step.ts";

export interface MediaGateOptions {
  maxBytesPerDay: number;
  hasEcg(modelSlug: string): boolean;
}

/** What a part costs beside its bytes, about: its row, and that of its recording. */
const partOverheadBytes = 256;
const dayMs = 86_400_000;

function mediaBytes({ messages }: AcceptedPacket): number {
  let bytes = 0;
  for (const message of messages) {
    if (message.kind === "voice_part") bytes += message.bytes.length + partOverheadBytes;
    else if (message.kind === "ecg_part") bytes += message.samples.length * 2 + partOverheadBytes;
  }
  return bytes;
}

const hasEcgPart = ({ messages }: AcceptedPacket): boolean => messages.some(({ kind }) => kind === "ecg_part");

/**
 * Parts of recordings that are not taken: ECG of a device that has none, and what one device sends beyond its share of a day,
 * so that no device can fill the disk. The devices' state rows are locked, so that nobody else counts for them meanwhile.
 */
export function makeMediaGate({ maxBytesPerDay, hasEcg }: MediaGateOptions): BatchStep {
  return async (client, packets, _rows, nowMs) => {
    const media = packets.filter((packet) => mediaBytes(packet) > 0);
    if (media.length === 0) return;
    const withEcg = media.filter(hasEcgPart);
    if (withEcg.length > 0) {
      const able = await devicesWithEcg(client, withEcg, hasEcg);
      for (const packet of withEcg) if (!able.has(packet.hold.device.id)) packet.refusal = "model";
    }
    const day = new Date(Math.floor(nowMs / dayMs) * dayMs).toISOString().slice(0, 10);
    const used = await bytesOf(client, media, day);
    const added = new Map<string, { packet: AcceptedPacket; bytes: number }>();
    for (const packet of media.toSorted(byDeviceId)) {
      if (packet.refusal) continue;
      const { id } = packet.hold.device;
      const bytes = mediaBytes(packet);
      const total = (used.get(id) ?? 0) + bytes;
      if (total > maxBytesPerDay) packet.refusal = "quota";
      else {
        used.set(id, total);
        added.set(id, { packet, bytes: (added.get(id)?.bytes ?? 0) + bytes });
      }
    }
    await addBytes(client, [...added.values()], day);
  };
}

/** By the model of the device, or what an operator has said for this one. */
async function devicesWithEcg(
  client: Client,
  packets: readonly AcceptedPacket[],
  hasEcg: (modelSlug: string) => boolean,
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<[id: string, model: string, override: boolean | null]>({
    name: "media_ecg",
    text: `select d.id, d.device_model_slug, o.supported from devices d
      left join device_capability_overrides o
        on o.device_id = d.id and o.organization_id = d.organization_id and o.code = 'ecg'
      where d.id = any($1::uuid[]) and d.organization_id = any($2::uuid[])`,
    values: [
      [...new Set(packets.map(({ hold }) => hold.device.id))],
      [...new Set(packets.map(({ hold }) => hold.device.organizationId))],
    ],
    rowMode: "array",
  });
  return new Set(rows.flatMap(([id, model, override]) => ((override ?? hasEcg(model)) ? [id] : [])));
}

async function bytesOf(client: Client, packets: readonly AcceptedPacket[], day: string): Promise<Map<string, number>> {
  const { rows } = await client.query<[id: string, bytes: string]>({
    name: "media_used",
    text: "select device_id, bytes from device_media_days where device_id = any($1::uuid[]) and day = $2::date",
    values: [[...new Set(packets.map(({ hold }) => hold.device.id))], day],
    rowMode: "array",
  });
  return new Map(rows.map(([id, bytes]) => [id, Number(bytes)]));
}

async function addBytes(
  client: Client,
  added: readonly { packet: AcceptedPacket; bytes: number }[],
  day: string,
): Promise<void> {
  if (added.length === 0) return;
  await client.query({
    name: "media_add",
    text: `insert into device_media_days as m (device_id, day, organization_id, bytes)
      select device_id, $4::date, organization_id, bytes
      from unnest($1::uuid[], $2::uuid[], $3::int8[]) as u(device_id, organization_id, bytes)
      on conflict (device_id, day) do update set bytes = m.bytes + excluded.bytes`,
    values: [
      added.map(({ packet }) => packet.hold.device.id),
      added.map(({ packet }) => packet.hold.device.organizationId),
      added.map(({ bytes }) => bytes),
      day,
    ],
  });
}

export const deleteOldMediaDays = (db: Db, before: Date): Promise<number> =>
  db.run`delete from device_media_days where day < ${before.toISOString().slice(0, 10)}::date`;
