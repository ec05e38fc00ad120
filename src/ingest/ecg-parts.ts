import { uuidV7 } from "../lib/ids.ts";
import { durationMs, layOut, leadName, type PartSize } from "../resources/ecg/ecg-layout.ts";
import type { BatchStep, TakenPacket } from "./batch-step.ts";
import { stalledAfterMs } from "./ecg-closing.ts";
import { ecgEvent } from "./ecg-event.ts";
import {
  insertParts,
  insertRecordings,
  type KnownRecording,
  lockRecordings,
  type OpenRecording,
  partSizes,
  type TakenPart,
  updateRecordings,
} from "./ecg-parts-store.ts";
import { plausibleTime } from "./rules/time-rule.ts";

/** Samples of all leads, gaps included. A part beyond it is a packet that cannot be stored: kept aside, and answered. */
const maxSamples = 2 * 1024 * 1024;
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
  const known = await lockRecordings(client, taken);
  const touched = assign(taken, known, nowMs);
  await insertRecordings(
    client,
    touched.filter(({ isNew }) => isNew),
    nowMs,
  );
  const grown = await insertParts(client, touched);
  const surplus = surplusOf(known, touched);
  const changed = [...touched.filter(({ id }) => grown.has(id)), ...surplus];
  if (changed.length === 0) return;
  const sizes = await partSizes(client, changed);
  for (const recording of changed) {
    const isGivenUp = surplus.includes(recording);
    settle(recording, sizes.get(recording.id) ?? [], isGivenUp);
    if (recording.status === "receiving" || recording.event_id !== null) continue;
    recording.event_id = uuidV7(nowMs);
    const duration_ms = durationMs(recording.sample_count, recording.sampling_rate_hz);
    rows.events.push(ecgEvent(recording.hold, recording.event_id, { ...recording, duration_ms }, nowMs));
  }
  await updateRecordings(client, changed);
};

const partsOf = (packets: readonly TakenPacket[]): TakenPart[] =>
  packets.flatMap(({ hold, messages, receivedAtMs }) =>
    messages.flatMap((part) => (part.kind === "ecg_part" ? [{ hold, part, receivedAtMs }] : [])),
  );

/** Finds the recording of each part, or begins it. */
function assign(taken: readonly TakenPart[], known: readonly KnownRecording[], nowMs: number): OpenRecording[] {
  const touched = new Map<string, OpenRecording>();
  for (const one of taken) {
    const { hold, part, receivedAtMs } = one;
    const candidates = [...touched.values(), ...known];
    const found = candidates.find((recording) => isOf(recording, one)) ?? begin(one, nowMs);
    const open = touched.get(found.id) ?? { ...found, hold, isNew: !candidates.includes(found), parts: [] };
    open.parts.push(one);
    open.last_part_at = new Date(Math.max(open.last_part_at.getTime(), receivedAtMs));
    open.gain ??= part.gain;
    touched.set(open.id, open);
  }
  return [...touched.values()];
}

/** A time that is none may name every recording of the device, so that it holds only for as long as one is under way. */
function isOf(recording: KnownRecording, { hold, part, receivedAtMs }: TakenPart): boolean {
  return (
    recording.device_id === hold.device.id &&
    recording.transfer === part.transfer &&
    recording.total === part.total &&
    recording.sampling_rate_hz === part.samplingRateHz &&
    recording.scale_uv === part.scaleUv &&
    (part.deviceTimeMs !== null || recording.last_part_at.getTime() >= receivedAtMs - stalledAfterMs)
  );
}

const begin = ({ hold, part, receivedAtMs }: TakenPart, nowMs: number): KnownRecording => ({
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

/** The oldest recordings of devices that have begun too many. */
function surplusOf(known: readonly KnownRecording[], touched: readonly OpenRecording[]): OpenRecording[] {
  const surplus: OpenRecording[] = [];
  const holds = new Map(touched.filter(({ isNew }) => isNew).map(({ hold }) => [hold.device.id, hold]));
  for (const [deviceId, hold] of holds) {
    const untouched = known.filter(
      (one) => one.device_id === deviceId && one.status === "receiving" && !touched.some(({ id }) => id === one.id),
    );
    const begun = touched.filter((one) => one.device_id === deviceId && one.status === "receiving").length;
    const tooMany = untouched.length + begun - maxOpen;
    if (tooMany <= 0) continue;
    const oldest = untouched.sort((a, b) => a.last_part_at.getTime() - b.last_part_at.getTime()).slice(0, tooMany);
    surplus.push(...oldest.map((one) => ({ ...one, hold, isNew: false, parts: [] })));
  }
  return surplus;
}

/** What the parts that are stored now make of the recording. A status only moves forward. */
function settle(recording: OpenRecording, sizes: readonly PartSize[], isGivenUp: boolean): void {
  const layout = layOut(sizes, recording.total);
  if (layout.sampleCount * layout.leads.length > maxSamples) throw new RangeError("an ECG recording is too large");
  if (layout.isComplete) recording.status = "complete";
  else if (isGivenUp) recording.status = "incomplete";
  recording.sample_count = recording.status === "receiving" ? receivedSamples(sizes) : layout.sampleCount;
  recording.leads = layout.leads.map(({ lead }) => leadName(lead));
}

function receivedSamples(sizes: readonly PartSize[]): number {
  const byLead = new Map<number, number>();
  for (const { lead, sampleCount } of sizes) byLead.set(lead, (byLead.get(lead) ?? 0) + sampleCount);
  return Math.max(0, ...byLead.values());
}
