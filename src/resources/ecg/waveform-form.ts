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

export const acceptsGzip = (acceptEncoding: string | undefined): boolean =>
  weighted(acceptEncoding).some(({ value, quality }) => ["gzip", "x-gzip"].includes(value) && quality > 0);

/** Weak comparison (RFC 9110, 13.1.2). */
export const matchesTag = (ifNoneMatch: string | undefined, tag: string): boolean =>
  (ifNoneMatch ?? "")
    .split(",")
    .map((one) => one.trim())
    .some((one) => one === "*" || one.replace(/^W\//, "") === tag.replace(/^W\//, ""));

/** The values of a header with their weights, parameters left aside. */
function weighted(header: string | undefined): { value: string; quality: number }[] {
  return (header ?? "").split(",").map((part) => {
    const [value = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const quality = weight === undefined ? 1 : Number(weight);
    return { value, quality: Number.isFinite(quality) ? quality : 0 };
  });
}
