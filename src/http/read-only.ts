import { type FieldErrors, validationError } from "../lib/errors.ts";
import { isUuid } from "../lib/ids.ts";
import { isSameJson } from "../lib/same-json.ts";
import { parseDateTime } from "./query-params.ts";

type Values = Readonly<Record<string, unknown>>;

/**
 * Section 1.4: a field that this call may not write is ignored when it says what the record already says, and refused
 * otherwise, so that a record read, edited and sent back is accepted and nothing is lost in silence. Live and derived fields
 * are always ignored: they are simply not among `fields`.
 *
 * `records` are the states a value may agree with: the current one, and the one this call makes where a writable field
 * moves a fixed one along. On a create the only state is the one the new record will have, and null is ignored.
 */
export function refuseReadOnly(
  body: object,
  fields: readonly string[],
  records: readonly Values[],
  options: { isCreate?: boolean } = {},
): void {
  const errors: FieldErrors = {};
  for (const field of fields) {
    if (!Object.hasOwn(body, field)) continue;
    const sent = (body as Values)[field];
    if (options.isCreate && sent === null) continue;
    if (!records.some((record) => isSameJson(sent, record[field], isSameText)))
      errors[field] = ["This field cannot be changed."];
  }
  if (Object.keys(errors).length > 0) throw validationError(errors);
}

const fullTime = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d/;

/** Ids in either case and times in any notation are the same value (section 1.1). */
function isSameText(a: string, b: string): boolean {
  if (isUuid(a)) return a.toLowerCase() === b.toLowerCase();
  if (!fullTime.test(a) || !fullTime.test(b)) return false;
  const time = parseDateTime(a)?.getTime();
  return time !== undefined && time === parseDateTime(b)?.getTime();
}
