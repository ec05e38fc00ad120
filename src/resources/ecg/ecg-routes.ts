import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { type Static, Type } from "@sinclair/typebox";
import { collection, type ObjectContext } from "../../http/collection.ts";
import { acceptsGzip, matchesTag } from "../../http/negotiation.ts";
import { choiceParam } from "../../http/query-params.ts";
import type { Route } from "../../http/route.ts";
import { FreeObject, Nullable, refTo, Timestamp, Uuid } from "../../http/schemas.ts";
import { waveformNotAvailable } from "../../lib/errors.ts";
import { type DeviceRow, getVisibleDevice } from "../devices/device-store.ts";
import { EcgRecording, EcgRecordingDetail, mediaTypes, toEcgRecording, toEcgRecordingDetail } from "./ecg-record.ts";
import { ecgList, getEcg, listEcg, readEcgParts } from "./ecg-store.ts";
import { makeWaveform, waveformCsv, waveformFhir, waveformJson } from "./waveform.ts";
import { acceptedForm, waveformForms } from "./waveform-form.ts";

const EcgLead = Type.Object(
  {
    name: Type.String(),
    samples: Type.Array(Nullable(Type.Integer({ description: "Null where a part was never received." }))),
  },
  { $id: "EcgLead" },
);

const EcgGap = Type.Object(
  { from: Type.Integer({ description: "Number of the first sample." }), count: Type.Integer() },
  { $id: "EcgGap" },
);

const EcgWaveform = Type.Object(
  {
    id: Uuid,
    device_uid: Type.String(),
    start_ts: Timestamp,
    sampling_rate_hz: Type.Number(),
    unit: Type.String({ examples: ["uV"] }),
    scale: Type.Number({ description: "Microvolt = offset + scale x sample." }),
    offset: Type.Number(),
    leads: Type.Array(refTo(EcgLead)),
    sample_count: Type.Integer({ description: "Of each lead, gaps included." }),
    missing: Type.Array(refTo(EcgGap), { description: "Gaps, by the numbers of their samples from 0." }),
  },
  { $id: "EcgWaveform" },
);
export type EcgWaveform = Static<typeof EcgWaveform>;

const waveformQuery = {
  format: choiceParam("The format of the answer; takes precedence over Accept.", waveformForms),
};

const recordings = collection({
  path: "/api/v1/devices/:device_uid/ecg/",
  operations: "devices_ecg",
  tag: "ECG",
  reads: { partners: ["ecg:read"], people: "VIEWER" },
  params: { device_uid: "imei", id: "uuid" },
  key: "id",
  loadParent: loadDevice,
  load: async (context) => {
    const device = await loadDevice(context);
    return { device, recording: await getEcg(context.db, device, context.params.id ?? "") };
  },
});

function loadDevice({ db, principal, params }: ObjectContext): Promise<DeviceRow> {
  return getVisibleDevice(db, principal, params.device_uid ?? "");
}

const writers = { json: waveformJson, csv: waveformCsv, fhir: waveformFhir };

export const ecgRoutes = (): Route[] => [
  recordings.list({
    summary: "ECG recordings of a device, newest first",
    list: ecgList,
    item: EcgRecording,
    rows: ({ db, object: device, list }) => listEcg(db, device, list()),
    toItem: (row, { object: device }) => toEcgRecording(row, device.uid),
  }),
  recordings.retrieve({
    summary: "One ECG recording",
    item: EcgRecordingDetail,
    handle: async ({ object: { device, recording } }) => toEcgRecordingDetail(recording, device.uid),
  }),
  recordings.get(":id/waveform/", {
    summary: "The samples of an ECG recording",
    description:
      "JSON, CSV (microvolts) or a FHIR R4 Observation, by `format` or `Accept`. With an ETag, and compressed on request. While the recording is being received: 404 `waveform_not_available`. Not for diagnosis.",
    query: waveformQuery,
    responses: { 200: refTo(EcgWaveform), 304: null },
    otherForms: {
      [mediaTypes.csv]: Type.String({ description: "Header `t_ms` and the names of the leads, a row per sample." }),
      [mediaTypes.fhir]: Type.Unsafe({ ...FreeObject, description: "Observation, a SampledData component per lead." }),
    },
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
