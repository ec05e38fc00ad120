import type { Client } from "pg";
import type { EcgPart } from "../codecs/tracker-message.ts";
import { uuidV7 } from "../lib/ids.ts";
import { durationMs, layOut, leadName, type PartSize } from "../resources/ecg/ecg-layout.ts";
import type { EcgStatus } from "../resources/ecg/ecg-record.ts";
import type { AcceptedPacket, BatchStep } from "./batch-step.ts";
import { stalledAfterMs } from "./ecg-closing.ts";
import { ecgEvent } from "./ecg-event.ts";
import {
  type AcceptedPart,
  insertParts,
  insertRecordings,
  type KnownRecording,
  lockRecordings,
  type OpenRecording,
  openRecordings,
  partSizes,
  updateRecordings,
} from "./ecg-parts-store.ts";
import { plausibleTime } from "./rules/time-rule.ts";

/** Samples of all leads, gaps included, and leads. A part beyond them is not taken, and answered: others are. */
const maxSamples = 2 * 1024 * 1024;
const maxLeads = 12;
/** A device that begins more without ending them gives up the oldest. */
const maxOpen = 20;

/**
 * Parts of ECG recordings, durable with their packet: the answer to a part means that it is stored. Parts may come in any
 * order and more than once. A recording begins with whichever part comes first, is complete when all are there, and is told
 * once, then or when it was given up; a part that comes later is still taken in.
 */
export const storeEcgParts: BatchStep = async (client, packets, rows, nowMs) => {
  const taken = partsOf(packets);
  if (taken.length === 0) return;
  const forms = new Map(taken.map((one) => [formOf(one.hold.device.id, one.part), one]));
  const touched = assign(taken, await lockRecordings(client, [...forms.values()]), nowMs);
  const stored = await partSizes(
    client,
    touched.filter(({ isNew }) => !isNew),
  );
  const grown = touched.filter((recording) => grow(recording, stored.get(recording.id) ?? []));
  const begun = grown.filter(({ isNew }) => isNew);
  await insertRecordings(client, begun, nowMs);
  await insertParts(client, grown);
  const surplus = begun.length === 0 ? [] : await giveUpSurplus(client, begun, touched);
  const changed = [...grown, ...surplus];
  if (changed.length === 0) return;
  for (const recording of changed) {
    if (recording.status === "receiving" || recording.event_id !== null) continue;
    recording.event_id = uuidV7(nowMs);
    const duration_ms = durationMs(recording.sample_count, recording.sampling_rate_hz);
    rows.events.push(ecgEvent(recording.hold, recording.event_id, { ...recording, duration_ms }, nowMs));
  }
  await updateRecordings(client, changed);
};

const partsOf = (packets: readonly AcceptedPacket[]): AcceptedPart[] =>
  packets.flatMap((packet) => {
    const { hold, messages, receivedAtMs, refusal } = packet;
    const refuse = (): void => {
      packet.refusal = "size";
    };
    return refusal
      ? []
      : messages.flatMap((part) => (part.kind === "ecg_part" ? [{ hold, part, receivedAtMs, refuse }] : []));
  });

/** All that tells recordings of a device apart. */
const formOf = (deviceId: string, { transfer, total, samplingRateHz, scaleUv }: EcgPart): string =>
  JSON.stringify([deviceId, transfer, total, samplingRateHz, scaleUv]);

/** Finds the recording of each part, or begins it. */
function assign(taken: readonly AcceptedPart[], known: readonly KnownRecording[], nowMs: number): OpenRecording[] {
  const byForm = new Map<string, KnownRecording>();
  for (const one of known) {
    const { sampling_rate_hz: samplingRateHz, scale_uv: scaleUv } = one;
    byForm.set(JSON.stringify([one.device_id, one.transfer, one.total, samplingRateHz, scaleUv]), one);
  }
  const touched = new Map<string, OpenRecording>();
  for (const one of taken) {
    const form = formOf(one.hold.device.id, one.part);
    const candidate = byForm.get(form);
    const found = candidate && isUnderWay(candidate, one) ? candidate : begin(one, nowMs);
    const isNew = found !== candidate;
    const open = touched.get(found.id) ?? { ...found, hold: one.hold, isNew, parts: [] };
    open.parts.push(one);
    byForm.set(form, open);
    touched.set(open.id, open);
  }
  return [...touched.values()];
}

/** A time that is none may name every recording of the device, so that it holds only for as long as one is in progress. */
const isUnderWay = (recording: KnownRecording, { part, receivedAtMs }: AcceptedPart): boolean =>
  part.deviceTimeMs !== null || recording.last_part_at.getTime() >= receivedAtMs - stalledAfterMs;

const begin = ({ hold, part, receivedAtMs }: AcceptedPart, nowMs: number): KnownRecording => ({
  id: uuidV7(nowMs),
  device_id: hold.device.id,
  transfer: part.transfer,
  total: part.total,
  sampling_rate_hz: part.samplingRateHz,
  scale_uv: part.scaleUv,
  ts: new Date(receivedAtMs),
  device_ts: part.deviceTimeMs === null ? null : new Date(part.deviceTimeMs),
  started_at: new Date(plausibleTime(part.deviceTimeMs, receivedAtMs)),
  last_part_at: new Date(receivedAtMs),
  status: "receiving",
  sample_count: 0,
  leads: [],
  avg_hr: null,
  classification: "not_analyzed",
  quality: "unknown",
  gain: part.gain,
  event_id: null,
});

/** Gives up the oldest recordings of devices that have begun too many. */
async function giveUpSurplus(
  client: Client,
  begun: readonly OpenRecording[],
  touched: readonly OpenRecording[],
): Promise<OpenRecording[]> {
  const holds = new Map(begun.map(({ hold }) => [hold.device.id, hold]));
  const open = await openRecordings(client, [...holds.keys()]);
  const surplus: OpenRecording[] = [];
  for (const [deviceId, hold] of holds) {
    const own = open.filter((one) => one.device_id === deviceId);
    const untouched = own.filter(({ id }) => !touched.some((one) => one.id === id));
    const oldest = untouched.slice(0, Math.max(0, own.length - maxOpen));
    surplus.push(...oldest.map((one) => ({ ...one, hold, isNew: false, parts: [] })));
  }
  const sizes = await partSizes(client, surplus);
  for (const recording of surplus) settle(recording, sizes.get(recording.id) ?? [], "incomplete");
  return surplus;
}

/** Takes in the parts that are new, unless they make the recording too large. False: nothing of it changes. */
function grow(recording: OpenRecording, stored: readonly PartSize[]): boolean {
  const sizes = new Map(stored.map((size) => [`${size.lead}.${size.sequence}`, size]));
  const fresh = new Map<string, AcceptedPart>();
  for (const one of recording.parts) {
    const key = `${one.part.lead}.${one.part.sequence}`;
    if (!sizes.has(key) && !fresh.has(key)) fresh.set(key, one);
  }
  recording.parts = [...fresh.values()];
  if (recording.parts.length === 0) return false;
  const sizesOf = (parts: readonly AcceptedPart[]): PartSize[] => [
    ...stored,
    ...parts.map(({ part: { lead, sequence, samples } }) => ({ lead, sequence, sampleCount: samples.length })),
  ];
  if (isTooLarge(sizesOf(recording.parts), recording.total)) {
    for (const { refuse } of recording.parts) refuse();
    recording.parts = [];
    return false;
  }
  for (const { part, receivedAtMs } of recording.parts) {
    recording.last_part_at = new Date(Math.max(recording.last_part_at.getTime(), receivedAtMs));
    recording.gain ??= part.gain;
  }
  settle(recording, sizesOf(recording.parts), recording.status);
  return true;
}

/** At least as large as its layout, and found without making it: gaps are as long as the largest part at most. */
function isTooLarge(sizes: readonly PartSize[], total: number): boolean {
  const leads = new Set(sizes.map(({ lead }) => lead)).size;
  if (leads > maxLeads) return true;
  const maxCount = Math.max(...sizes.map(({ sampleCount }) => sampleCount));
  if (maxCount * total * leads <= maxSamples) return false;
  const layout = layOut(sizes, total);
  return layout.sampleCount * layout.leads.length > maxSamples;
}

/** What its parts make of the recording. A status only moves forward. */
function settle(recording: OpenRecording, sizes: readonly PartSize[], otherwise: EcgStatus): void {
  const layout = layOut(sizes, recording.total);
  recording.status = layout.isComplete ? "complete" : otherwise;
  recording.sample_count = recording.status === "receiving" ? receivedSamples(sizes) : layout.sampleCount;
  recording.leads = layout.leads.map(({ lead }) => leadName(lead));
}

function receivedSamples(sizes: readonly PartSize[]): number {
  const byLead = new Map<number, number>();
  for (const { lead, sampleCount } of sizes) byLead.set(lead, (byLead.get(lead) ?? 0) + sampleCount);
  return Math.max(0, ...byLead.values());
}
