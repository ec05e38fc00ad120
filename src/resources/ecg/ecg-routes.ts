import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { Type } from "@sinclair/typebox";
import { choiceParam } from "../../http/query-params.ts";
import { type LoadContext, ok, type Route, route } from "../../http/route.ts";
import { FreeObject, Nullable, pageOf, refTo, Timestamp, Uuid } from "../../http/schemas.ts";
import { waveformNotAvailable } from "../../lib/errors.ts";
import { type DeviceRow, getVisibleDevice } from "../devices/device-store.ts";
import { EcgRecording, EcgRecordingDetail, mediaTypes, toEcgRecording, toEcgRecordingDetail } from "./ecg-record.ts";
import { ecgList, getEcg, listEcg, readEcgParts } from "./ecg-store.ts";
import { makeWaveform, waveformCsv, waveformFhir, waveformJson } from "./waveform.ts";
import { acceptedForm, acceptsGzip, matchesTag, waveformForms } from "./waveform-form.ts";

const EcgWaveform = Type.Object(
  {
    id: Uuid,
    device_uid: Type.String(),
    start_ts: Timestamp,
    sampling_rate_hz: Type.Number(),
    unit: Type.String({ examples: ["uV"] }),
    scale: Type.Number({ description: "Microvolt = offset + scale x sample." }),
    offset: Type.Number(),
    leads: Type.Array(
      Type.Object({
        name: Type.String(),
        samples: Type.Array(Nullable(Type.Integer({ description: "Null where a part never came." }))),
      }),
    ),
    sample_count: Type.Integer({ description: "Of each lead, gaps included." }),
    missing: Type.Array(
      Type.Object({ from: Type.Integer({ description: "Number of the first sample." }), count: Type.Integer() }),
      { description: "Gaps, by the numbers of their samples from 0." },
    ),
  },
  { $id: "EcgWaveform" },
);

const waveformQuery = {
  format: choiceParam("The form of the answer; it wins over Accept.", waveformForms),
};

const reads = {
  method: "GET",
  tag: "ECG",
  partners: ["ecg:read"],
  people: "VIEWER",
} as const;

type AnyLoad = Pick<LoadContext<Record<never, never>, Record<never, never>>, "db" | "principal" | "params">;
const loadDevice = ({ db, principal, params }: AnyLoad): Promise<DeviceRow> =>
  getVisibleDevice(db, principal, params.device_uid ?? "");
async function loadRecording(context: AnyLoad) {
  const device = await loadDevice(context);
  return { device, recording: await getEcg(context.db, device, context.params.id ?? "") };
}

const writers = { json: waveformJson, csv: waveformCsv, fhir: waveformFhir };

export const ecgRoutes = (): Route[] => [
  route({
    ...reads,
    path: "/api/v1/devices/:device_uid/ecg/",
    operationId: "devices_ecg_list",
    summary: "ECG recordings of a device, newest first",
    params: { device_uid: "imei" },
    list: ecgList,
    responses: { 200: refTo(pageOf(EcgRecording)) },
    load: loadDevice,
    handle: async ({ db, object: device, list, page }) =>
      page(await listEcg(db, device, list()), (row) => toEcgRecording(row, device.uid)),
  }),
  route({
    ...reads,
    path: "/api/v1/devices/:device_uid/ecg/:id/",
    operationId: "devices_ecg_retrieve",
    summary: "One ECG recording",
    params: { device_uid: "imei", id: "uuid" },
    responses: { 200: refTo(EcgRecordingDetail) },
    load: loadRecording,
    handle: async ({ object: { device, recording } }) => ok(toEcgRecordingDetail(recording, device.uid)),
  }),
  route({
    ...reads,
    path: "/api/v1/devices/:device_uid/ecg/:id/waveform/",
    operationId: "devices_ecg_waveform_retrieve",
    summary: "The samples of an ECG recording",
    description:
      "JSON, CSV (microvolts) or a FHIR R4 Observation, by `format` or `Accept`. With an ETag, and compressed on request. While the recording is being received 404 `waveform_not_available`. Not for diagnosis.",
    params: { device_uid: "imei", id: "uuid" },
    query: waveformQuery,
    responses: { 200: refTo(EcgWaveform), 304: null },
    otherForms: {
      [mediaTypes.csv]: Type.String({ description: "Header `t_ms` and the names of the leads, a row per sample." }),
      [mediaTypes.fhir]: Type.Unsafe({ ...FreeObject, description: "Observation, a SampledData component per lead." }),
    },
    load: loadRecording,
    handle: async ({ db, object: { device, recording }, query, header }) => {
      const form = query().format ?? acceptedForm(header("accept"));
      if (recording.status === "receiving") throw waveformNotAvailable();
      const tag = `W/"${recording.id}-${recording.revision}-${form}"`;
      const headers: Record<string, string> = {
        ETag: tag,
        Vary: "Accept, Accept-Encoding",
        // To be kept by the caller alone, and asked for again each time.
        "Cache-Control": "private, no-cache",
      };
      if (matchesTag(header("if-none-match"), tag)) return { status: 304, body: undefined, headers };
      const waveform = makeWaveform(recording, device.uid, await readEcgParts(db, device, recording.id));
      const text = Readable.from(writers[form](waveform), { objectMode: false });
      headers["Content-Type"] = `${mediaTypes[form]}; charset=utf-8`;
      if (!acceptsGzip(header("accept-encoding"))) return { status: 200, body: text, headers };
      const packed = createGzip();
      text.on("error", (error) => packed.destroy(error)).pipe(packed);
      return { status: 200, body: packed, headers: { ...headers, "Content-Encoding": "gzip" } };
    },
  }),
];
