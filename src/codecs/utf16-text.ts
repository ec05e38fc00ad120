/** The hex digits of UTF-16, high byte first: how watches want texts and names. */
export function utf16BeHex(text: string): string {
  return Buffer.from(text, "utf16le").swap16().toString("hex");
}
