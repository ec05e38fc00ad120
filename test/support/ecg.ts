import { uuidV7 } from "../../src/lib/ids.ts";
import type { TestApi } from "./api.ts";
import type { TestDevice } from "./fixtures.ts";

export interface TestEcg {
  ts?: string;
  deviceTs?: string | null;
  status?: "receiving" | "complete" | "incomplete";
  rate?: number;
  scale?: number;
  avgHr?: number | null;
  classification?: string;
  /** Parts by lead; null is a part that never came. */
  leads?: Record<number, (readonly number[] | null)[]>;
}

/** A recording as the ingest would have left it. */
export async function makeEcg({ db, clock }: TestApi, device: TestDevice, ecg: TestEcg = {}): Promise<string> {
  const id = uuidV7(clock.nowMs());
  const { ts = clock.now().toISOString(), deviceTs = ts, status = "complete", rate = 250, scale = 1 } = ecg;
  const { avgHr = null, classification = "not_analyzed", leads = { 1: [[12, 14, 9, -3]] } } = ecg;
  const parts = Object.entries(leads).flatMap(([lead, samples]) =>
    samples.flatMap((part, index) => (part ? [{ lead: Number(lead), sequence: index + 1, samples: part }] : [])),
  );
  const lengths = Object.values(leads).map((all) => all.reduce((sum, part) => sum + (part ?? all[0] ?? []).length, 0));
  const count = Math.max(0, ...lengths);
  const names = Object.keys(leads).map((lead) => ({ 1: "I", 2: "II" })[Number(lead)] ?? `L${lead}`);
  const total = Math.max(1, ...Object.values(leads).map((all) => all.length));
  await db.run`
    insert into ecg_recordings (device_id, id, organization_id, transfer, total, sampling_rate_hz, scale_uv, ts, device_ts,
      started_at, received_at, last_part_at, status, sample_count, duration_ms, leads, avg_hr, classification,
      classification_source, quality, device_info, revision, search)
    select d.id, ${id}, d.organization_id, ${id}, ${total}, ${rate}, ${scale}, ${ts}, ${deviceTs}, ${deviceTs ?? ts}, ${ts},
      ${ts}, ${status}, ${count}, ${Math.round((count * 1000) / rate)}, ${names}, ${avgHr}, ${classification},
      ${classification === "not_analyzed" ? null : "device"}, 'unknown', '{}', 1, ${classification}
    from devices d where d.id = ${device.id}`;
  for (const { lead, sequence, samples } of parts) {
    const bytes = Buffer.alloc(samples.length * 2);
    for (const [index, sample] of samples.entries()) bytes.writeInt16BE(sample, index * 2);
    await db.run`
      insert into ecg_parts (device_id, recording_id, organization_id, lead, sequence, sample_count, samples, received_at)
      select d.id, ${id}, d.organization_id, ${lead}, ${sequence}, ${samples.length}, ${bytes}, ${ts}
      from devices d where d.id = ${device.id}`;
  }
  return id;
}
