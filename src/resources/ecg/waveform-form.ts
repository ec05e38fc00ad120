import { weighted } from "../../http/negotiation.ts";
import { mediaTypes } from "./ecg-record.ts";

export const waveformForms = ["json", "csv", "fhir"] as const;
export type WaveformForm = (typeof waveformForms)[number];

/** What the caller likes best; JSON when it names nothing that we have (section 16). */
export function acceptedForm(accept: string | undefined): WaveformForm {
  let best: { form: WaveformForm; quality: number } | undefined;
  for (const { value, quality } of weighted(accept)) {
    const form = waveformForms.find((one) => mediaTypes[one] === value);
    if (form && quality > (best?.quality ?? 0)) best = { form, quality };
  }
  // A wildcard means JSON, and gives way to a form that is named with the same weight.
  const anything = Math.max(
    0,
    ...weighted(accept).flatMap(({ value, quality }) => (["*/*", "application/*"].includes(value) ? [quality] : [])),
  );
  return best && best.quality >= anything ? best.form : "json";
}
