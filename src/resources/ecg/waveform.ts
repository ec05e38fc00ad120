import { type EcgLayout, layOut } from "./ecg-layout.ts";
import type { EcgRow } from "./ecg-record.ts";
import type { EcgPartRow } from "./ecg-store.ts";

/** The samples of a recording, lead by lead; null where a part never came. */
export interface Waveform {
  recording: EcgRow;
  deviceUid: string;
  layout: EcgLayout;
  leads: readonly Lead[];
}

export interface Lead {
  number: number;
  name: string;
  /** One of the samples, by its number from 0. */
  at(index: number): number | null;
}

const absent = -32_769;
const offsetUv = 0;
/** Samples that become one piece of text: small enough to let other calls in between. */
const pieceSamples = 4096;

export function makeWaveform(recording: EcgRow, deviceUid: string, parts: readonly EcgPartRow[]): Waveform {
  const layout = layOut(parts, recording.total);
  const stored = new Map(parts.map((part) => [`${part.lead}/${part.sequence}`, part.samples]));
  const leads = layout.leads.map(({ lead, name, stretches }) => {
    const samples = new Int32Array(layout.sampleCount).fill(absent);
    let at = 0;
    for (const { sequence, count } of stretches) {
      const bytes = sequence === null ? undefined : stored.get(`${lead}/${sequence}`);
      if (bytes) for (let index = 0; index < count; index++) samples[at + index] = bytes.readInt16BE(index * 2);
      at += count;
    }
    const read = (index: number): number | null => {
      const sample = samples[index];
      return sample === undefined || sample === absent ? null : sample;
    };
    return { number: lead, name, at: read };
  });
  return { recording, deviceUid, layout, leads };
}

/** The numbers of the samples in pieces. */
function* pieces({ layout }: Waveform): Generator<{ from: number; to: number }> {
  for (let from = 0; from < layout.sampleCount; from += pieceSamples) {
    yield { from, to: Math.min(from + pieceSamples, layout.sampleCount) };
  }
}

function joined(from: number, to: number, text: (index: number) => string, separator: string): string {
  const texts: string[] = [];
  for (let index = from; index < to; index++) texts.push(text(index));
  return (from === 0 ? "" : separator) + texts.join(separator);
}

/** Shortest text of a number that is meant to have few decimals. */
const plain = (value: number): string => String(Math.round(value * 1e6) / 1e6);

/** Section 16: microvolt = offset + scale x sample. */
export function* waveformJson(waveform: Waveform): Generator<string> {
  const { recording, deviceUid, layout, leads } = waveform;
  const head = {
    id: recording.id,
    device_uid: deviceUid,
    start_ts: recording.started_at.toISOString(),
    sampling_rate_hz: recording.sampling_rate_hz,
    unit: "uV",
    scale: recording.scale_uv,
    offset: offsetUv,
  };
  yield `${JSON.stringify(head).slice(0, -1)},"leads":[`;
  for (const [number, { name, at }] of leads.entries()) {
    yield `${number === 0 ? "" : ","}{"name":${JSON.stringify(name)},"samples":[`;
    for (const { from, to } of pieces(waveform)) yield joined(from, to, (index) => String(at(index)), ",");
    yield "]}";
  }
  yield `],"sample_count":${layout.sampleCount},"missing":${JSON.stringify(layout.missing)}}`;
}

/** Microvolts, since a table has no place for a scale; empty where a sample is missing. */
export function* waveformCsv(waveform: Waveform): Generator<string> {
  const { recording, leads } = waveform;
  const { sampling_rate_hz: rate, scale_uv: scale } = recording;
  const cell = (sample: number | null): string => (sample === null ? "" : plain(offsetUv + scale * sample));
  const line = (index: number): string =>
    [plain((index * 1000) / rate), ...leads.map(({ at }) => cell(at(index)))].join(",");
  yield `${["t_ms", ...leads.map(({ name }) => name)].join(",")}\n`;
  for (const { from, to } of pieces(waveform)) {
    yield `${joined(from, to, line, "\n").replace(/^\n/, "")}\n`;
  }
}

/** ISO/IEEE 11073-10101: the electric potential of an ECG lead; others than I and II have no code that we could know. */
const mdc = "urn:iso:std:iso:11073:10101";
const leadCodes: Readonly<Record<number, { code: string; display: string }>> = {
  1: { code: "131329", display: "MDC_ECG_ELEC_POTL_I" },
  2: { code: "131330", display: "MDC_ECG_ELEC_POTL_II" },
};
const potential = { code: "131328", display: "MDC_ECG_ELEC_POTL" };
const categories = "http://terminology.hl7.org/CodeSystem/observation-category";

/** A FHIR R4 Observation. Samples that are missing are "E", the word of SampledData for what was not measured. */
export function* waveformFhir(waveform: Waveform): Generator<string> {
  const { recording, deviceUid, leads } = waveform;
  const start = recording.started_at;
  const head = {
    resourceType: "Observation",
    id: recording.id,
    status: recording.status === "complete" ? "final" : "preliminary",
    category: [{ coding: [{ system: categories, code: "procedure", display: "Procedure" }] }],
    code: { coding: [{ system: mdc, ...potential }], text: "ECG" },
    effectivePeriod: {
      start: start.toISOString(),
      end: new Date(start.getTime() + recording.duration_ms).toISOString(),
    },
    issued: recording.received_at.toISOString(),
    device: { identifier: { system: "urn:ietf:rfc:3986", value: imeiUrn(deviceUid) } },
    note: [{ text: "Not for diagnosis." }],
  };
  yield `${JSON.stringify(head).slice(0, -1)},"component":[`;
  for (const [index, { number, name, at }] of leads.entries()) {
    const code = { coding: [{ system: mdc, ...(leadCodes[number] ?? potential) }], text: `Lead ${name}` };
    const sampled = {
      origin: { value: offsetUv, unit: "uV", system: "http://unitsofmeasure.org", code: "uV" },
      period: Number(plain(1000 / recording.sampling_rate_hz)),
      factor: recording.scale_uv,
      dimensions: 1,
    };
    const opening = `{"code":${JSON.stringify(code)},"valueSampledData":${JSON.stringify(sampled).slice(0, -1)}`;
    yield `${index === 0 ? "" : ","}${opening},"data":"`;
    for (const { from, to } of pieces(waveform)) yield joined(from, to, (one) => String(at(one) ?? "E"), " ");
    yield '"}}';
  }
  yield "]}";
}

/** RFC 7254. */
const imeiUrn = (imei: string): string => `urn:gsma:imei:${imei.slice(0, 8)}-${imei.slice(8, 14)}-${imei.slice(14)}`;
