import { uuidBytes } from "../lib/ids.ts";
import type { EcgStatus } from "../resources/ecg/ecg-record.ts";
import { eventTypes, severities } from "../resources/events/event-types.ts";
import type { EventOwner, EventRow } from "./ingest-rows.ts";

/** The event of a recording that has ended, whole or not. */
export interface RecordedEcg {
  id: string;
  ts: Date;
  device_ts: Date | null;
  duration_ms: number;
  sampling_rate_hz: number;
  avg_hr: number | null;
  classification: string;
  quality: string;
  status: EcgStatus;
}

/**
 * The event of a recording (sections 7 and 19.3). Its time is the `ts` of the recording, as in the outbound example: the server
 * time of the first packet.
 */
export function ecgEvent(hold: EventOwner, eventId: string, ecg: RecordedEcg, nowMs: number): EventRow {
  const { number, severity, title } = eventTypes.ecg_recorded;
  const { id: ecg_id, duration_ms, sampling_rate_hz, status } = ecg;
  const length = `ECG of ${Math.round(duration_ms / 1000)} s recorded`;
  return {
    hold,
    id: uuidBytes(eventId),
    typeNumber: number,
    severity: severities[severity],
    tsMs: ecg.ts.getTime(),
    deviceTimeMs: ecg.device_ts?.getTime() ?? null,
    receivedAtMs: nowMs,
    title,
    message: status === "complete" ? length : `${length}, parts of it are missing`,
    location: null,
    data: { ecg_id, duration_ms, sampling_rate_hz, status },
    outbound: {
      event_id: eventId,
      ecg_id,
      ts: ecg.ts.toISOString(),
      device_ts: ecg.device_ts?.toISOString() ?? null,
      duration_ms,
      sampling_rate_hz,
      avg_hr: ecg.avg_hr,
      classification: ecg.classification,
      quality: ecg.quality,
      status,
    },
  };
}
