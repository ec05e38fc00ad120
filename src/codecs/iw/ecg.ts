import { MalformedFrame } from "../malformed-frame.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { cleanText, type IwFrame, numberOf, wholeNumberOf } from "./fields.ts";
import { utcTimeOf } from "./time.ts";

/** Bounds of what is believed: with frames of 8 KB, a lead has at most 4 MB. */
const maxParts = 1024;
const maxLead = 99;
const [minRateHz, maxRateHz] = [1, 10_000];

/**
 * APHD, a part of an ECG: time, total, sequence, gain, point voltage, lead, rate, length, data. No captured frame is known;
 * everything that was decided about it is here: the clock is UTC, the data is hex text of signed 16-bit big-endian samples,
 * the length counts bytes or hex characters, a point voltage of zero means one microvolt.
 */
export function readEcg({ fields }: IwFrame): TrackerMessage[] {
  const [time = "", total, sequence, gain, pointVoltage, lead, rate, length, data = ""] = fields;
  const part = { total: wholeNumberOf(total), sequence: wholeNumberOf(sequence), lead: wholeNumberOf(lead) };
  if (part.sequence < 1 || part.sequence > part.total) throw new MalformedFrame("bad ECG sequence");
  if (part.total > maxParts || part.lead > maxLead) throw new MalformedFrame("too large an ECG");
  const samplingRateHz = numberOf(rate) ?? 0;
  if (samplingRateHz < minRateHz || samplingRateHz > maxRateHz) throw new MalformedFrame("bad ECG sampling rate");
  const scale = numberOf(pointVoltage) ?? 0;
  return [
    {
      kind: "ecg_part",
      deviceTimeMs: utcTimeOf(time.trim()),
      transfer: cleanText(time).slice(0, 20),
      ...part,
      samplingRateHz,
      scaleUv: scale > 0 ? scale : 1,
      gain: numberOf(gain) ?? null,
      samples: readSamples(data, wholeNumberOf(length)),
    },
  ];
}

function readSamples(hex: string, length: number): number[] {
  const hasLength = hex.length === length * 2 || hex.length === length;
  if (!hasLength || !/^(?:[0-9a-f]{4})*$/i.test(hex)) throw new MalformedFrame("bad ECG data");
  const bytes = Buffer.from(hex, "hex");
  return Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16BE(index * 2));
}
