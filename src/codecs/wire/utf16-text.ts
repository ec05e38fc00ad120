/** The hex digits of UTF-16, high byte first: how watches want texts and names. */
export function utf16BeHex(text: string): string {
  return Buffer.from(text, "utf16le").swap16().toString("hex");
}

export type Utf16 = "utf-16be" | "utf-16le";

/** The name of a sender or a contact, in upper case hex; which byte order a watch shows rightly is a trait of its model. */
export function nameHex(name: string, encoding: Utf16): string {
  const hex = encoding === "utf-16be" ? utf16BeHex(name) : Buffer.from(name, "utf16le").toString("hex");
  return hex.toUpperCase();
}

/**
 * Reads hex text whose byte order the papers leave open: big-endian, unless only the other reading is in an alphabet below
 * U+0800, or the big-endian one has characters nobody writes or scripts nobody mixes. Undefined when it is no text at all.
 */
export function readUtf16Hex(hex: string): string | undefined {
  if (hex.length % 4 !== 0 || !/^[0-9a-f]*$/i.test(hex)) return undefined;
  const bytes = Buffer.from(hex, "hex");
  const big = decode(bytes, "utf-16be");
  const little = decode(bytes, "utf-16le");
  if (isAlphabetic(big)) return big;
  return isAlphabetic(little) || (!isPlausible(big) && isPlausible(little)) ? little : big;
}

/** Unpaired surrogates become U+FFFD and NUL is left out: the database takes neither. */
function decode(bytes: Buffer, encoding: Utf16): string {
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes).replaceAll("\0", "");
}

function isAlphabetic(text: string): boolean {
  return /^[\t\n\r\u0020-\u007e\u00a0-\u07ff]*$/.test(text);
}

const SCRIPTS = [
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Bopomofo}",
  "\\p{Script=Hangul}",
  "\\p{Script=Cyrillic}",
  "\\p{Script=Greek}",
  "\\p{Script=Arabic}",
  "\\p{Script=Hebrew}",
  "\\p{Script=Devanagari}",
  "\\p{Script=Thai}",
];
const EACH_SCRIPT = SCRIPTS.map((script) => new RegExp(`[${script}]`, "u"));
const OTHER_SCRIPT = new RegExp(`[^${SCRIPTS.join("")}\\p{Script=Latin}\\p{Script=Common}\\p{Script=Inherited}]`, "u");

/** At most one script beside Latin, digits and signs; no unassigned, private or control characters. */
function isPlausible(text: string): boolean {
  if (/[\p{Cn}\p{Co}\p{Cs}\ufffd]|(?![\t\n\r])\p{Cc}/u.test(text)) return false;
  const listed = EACH_SCRIPT.filter((script) => script.test(text)).length;
  return listed + (OTHER_SCRIPT.test(text) ? 1 : 0) <= 1;
}
