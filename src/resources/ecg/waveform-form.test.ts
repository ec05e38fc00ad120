import { expect, it } from "vitest";
import { acceptedForm } from "./waveform-form.ts";

it.each([
  [undefined, "json"],
  ["", "json"],
  ["*/*", "json"],
  ["application/json", "json"],
  ["text/csv", "csv"],
  ["TEXT/CSV; charset=utf-8", "csv"],
  ["application/fhir+json", "fhir"],
  ["application/fhir+json; fhirVersion=4.0", "fhir"],
  ["text/csv;q=0.5, application/fhir+json;q=0.9", "fhir"],
  ["text/csv;q=0.5, application/json", "json"],
  ["text/csv, */*;q=0.1", "csv"],
  ["text/csv;q=0.2, */*", "json"],
  ["text/csv;q=0", "json"],
  ["text/csv;q=x", "json"],
  ["application/xml", "json"],
  ["image/png, text/html", "json"],
] as const)("the waveform reads Accept: %s as %s", (accept, form) => {
  expect(acceptedForm(accept)).toBe(form);
});
