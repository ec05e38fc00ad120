import { type Static, Type } from "@sinclair/typebox";
import { sql } from "../../db/sql.ts";
import { FreeObject, Nullable, refTo, StringEnum, Timestamp, Uuid } from "../../http/schemas.ts";

const EcgClassification = StringEnum("EcgClassificationEnum", [
  "not_analyzed",
  "sinus_rhythm",
  "atrial_fibrillation",
  "inconclusive",
  "inconclusive_high_hr",
  "inconclusive_low_hr",
  "inconclusive_poor_reading",
  "unreadable",
]);
const EcgClassificationSource = StringEnum("EcgClassificationSourceEnum", ["device"]);
const EcgQuality = StringEnum("EcgQualityEnum", ["good", "poor", "no_contact", "unknown"]);
const EcgStatus = StringEnum("EcgStatusEnum", ["receiving", "complete", "incomplete"]);
export type EcgStatus = Static<typeof EcgStatus>;

export const mediaTypes = { json: "application/json", csv: "text/csv", fhir: "application/fhir+json" } as const;

const fields = {
  id: Uuid,
  device_uid: Type.String({ description: "IMEI, 15 digits." }),
  ts: Type.String({ format: "date-time", description: "Server time of the first packet." }),
  device_ts: Nullable(Type.String({ format: "date-time", description: "Start by the clock of the device, as sent." })),
  received_at: Timestamp,
  duration_ms: Type.Integer(),
  sampling_rate_hz: Type.Number(),
  sample_count: Type.Integer({
    description: "Samples of one lead, gaps included; while receiving, those received so far.",
  }),
  leads: Type.Array(Type.String()),
  unit: Type.String({ examples: ["uV"] }),
  avg_hr: Nullable(Type.Integer()),
  classification: refTo(EcgClassification),
  classification_source: Nullable(refTo(EcgClassificationSource)),
  quality: refTo(EcgQuality),
  status: refTo(EcgStatus),
  waveform_available: Type.Boolean({ description: "False while receiving." }),
  waveform_formats: Type.Array(Type.String()),
};

export const EcgRecording = Type.Object(fields, { $id: "EcgRecording" });
export type EcgRecording = Static<typeof EcgRecording>;

export const EcgRecordingDetail = Type.Object(
  {
    ...fields,
    device_info: Type.Unsafe<Record<string, unknown>>({
      ...FreeObject,
      description: "Additional data from the device.",
    }),
    notes: Nullable(Type.String()),
  },
  { $id: "EcgRecordingDetail" },
);
export type EcgRecordingDetail = Static<typeof EcgRecordingDetail>;

export interface EcgRow {
  id: string;
  device_id: string;
  total: number;
  sampling_rate_hz: number;
  scale_uv: number;
  ts: Date;
  device_ts: Date | null;
  started_at: Date;
  received_at: Date;
  status: EcgStatus;
  sample_count: number;
  duration_ms: number;
  leads: string[];
  avg_hr: number | null;
  classification: EcgRecording["classification"];
  classification_source: EcgRecording["classification_source"];
  quality: EcgRecording["quality"];
  device_info: Record<string, unknown>;
  notes: string | null;
  revision: number;
}

export const ecgColumns = sql`r.id, r.device_id, r.total, r.sampling_rate_hz, r.scale_uv, r.ts, r.device_ts, r.started_at,
  r.received_at, r.status, r.sample_count, r.duration_ms, r.leads, r.avg_hr, r.classification, r.classification_source,
  r.quality, r.device_info, r.notes, r.revision`;

export const toEcgRecording = (row: EcgRow, deviceUid: string): EcgRecording => ({
  id: row.id,
  device_uid: deviceUid,
  ts: row.ts.toISOString(),
  device_ts: row.device_ts?.toISOString() ?? null,
  received_at: row.received_at.toISOString(),
  duration_ms: row.duration_ms,
  sampling_rate_hz: row.sampling_rate_hz,
  sample_count: row.sample_count,
  leads: row.leads,
  unit: "uV",
  avg_hr: row.avg_hr,
  classification: row.classification,
  classification_source: row.classification_source,
  quality: row.quality,
  status: row.status,
  waveform_available: row.status !== "receiving",
  waveform_formats: Object.values(mediaTypes),
});

export const toEcgRecordingDetail = (row: EcgRow, deviceUid: string): EcgRecordingDetail => ({
  ...toEcgRecording(row, deviceUid),
  device_info: row.device_info,
  notes: row.notes,
});
