/** Binary coded decimals: two digits in each byte, the first in the high half. */

/** The digits of all bytes. Undefined when a half byte is no digit. */
export function readBcd(bytes: Uint8Array): string | undefined {
  let digits = "";
  for (const byte of bytes) {
    const [high, low] = [byte >> 4, byte & 0x0f];
    if (high > 9 || low > 9) return undefined;
    digits += String(high) + String(low);
  }
  return digits;
}

/** The digits in `length` bytes, with zeros in front. Throws for what is longer or no digit. */
export function writeBcd(digits: string, length: number): Buffer {
  if (!/^\d*$/.test(digits) || digits.length > length * 2)
    throw new RangeError(`"${digits}" does not fit ${length} bytes`);
  return Buffer.from(digits.padStart(length * 2, "0"), "hex");
}
