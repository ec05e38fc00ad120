import { parseError, payloadTooLarge, unsupportedMediaType } from "../lib/errors.ts";
import { mediaType, type RawBody } from "../lib/raw-body.ts";

/** Section 21. An operation that needs more says so in the configuration of its route. */
export const maxJsonBytes = 65_536;

/** The text of a body of the given media type. */
export function readText(raw: RawBody | undefined, wanted: string): string {
  if (raw?.tooLarge) throw payloadTooLarge();
  if (mediaType(raw?.contentType) !== wanted) throw unsupportedMediaType(`The request body must be ${wanted}.`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(raw?.bytes);
  } catch {
    throw parseError("The request body is not valid UTF-8.");
  }
}

/** The parsed value of a JSON body; no body at all is an empty object. */
export function readJson(raw: RawBody | undefined): unknown {
  if (!raw) return {};
  if (raw.tooLarge) throw payloadTooLarge();
  if (raw.bytes.length === 0) return {};
  const type = mediaType(raw.contentType);
  if (type !== "application/json" && !/^application\/[a-z0-9.-]+\+json$/.test(type)) {
    throw unsupportedMediaType("The request body must be application/json.");
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(raw.bytes);
    return JSON.parse(text);
  } catch {
    throw parseError();
  }
}
