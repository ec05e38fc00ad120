import type { EcgStatus } from "./ecg-record.ts";

/** What is told about a recording when it is over, whole or not. */
export interface RecordedEcg {
  id: string;
  ts: Date;
  deviceTs: Date | null;
  durationMs: number;
  samplingRateHz: number;
  avgHr: number | null;
  classification: string;
  quality: string;
  status: EcgStatus;
}

/**
 * The event of a recording (sections 7 and 19.3). Its time is the `ts` of the recording, as in the outbound example: the server
 * time of the first packet.
 */
export function ecgEvent(eventId: string, ecg: RecordedEcg) {
  const seconds = Math.round(ecg.durationMs / 1000);
  const message = `ECG of ${seconds} s recorded${ecg.status === "complete" ? "" : ", parts of it are missing"}`;
  return {
    message,
    data: {
      ecg_id: ecg.id,
      duration_ms: ecg.durationMs,
      sampling_rate_hz: ecg.samplingRateHz,
      status: ecg.status,
    },
    outbound: {
      event_id: eventId,
      ecg_id: ecg.id,
      ts: ecg.ts.toISOString(),
      device_ts: ecg.deviceTs?.toISOString() ?? null,
      duration_ms: ecg.durationMs,
      sampling_rate_hz: ecg.samplingRateHz,
      avg_hr: ecg.avgHr,
      classification: ecg.classification,
      quality: ecg.quality,
      status: ecg.status,
    },
  };
}
