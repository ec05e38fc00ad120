/** A decimal number as trackers write it. Null for what is empty, no number, or longer than any reading. */
export function readNumber(text: string | undefined): number | null {
  const digits = text?.trim() ?? "";
  // Adding zero turns a negative zero into a plain one.
  return /^[+-]?(\d{1,12}(\.\d{0,20})?|\.\d{1,20})$/.test(digits) ? Number(digits) + 0 : null;
}

export function readWholeNumber(text: string | undefined): number | null {
  const number = readNumber(text);
  return number === null || !Number.isInteger(number) ? null : number;
}

/** A vital sign: watches write zero when they could not measure. */
export function readVital(text: string | undefined): number | null {
  const number = readNumber(text);
  return number === null || number <= 0 ? null : number;
}
