const maxShown = 60;

/** The beginning of a frame as text; undefined when it holds bytes that are none. */
export function readableFrame(hex: string): string | undefined {
  const bytes = hex.match(/../g) ?? [];
  let text = "";
  for (const byte of bytes) {
    const code = Number.parseInt(byte, 16);
    if (code < 0x20 || code > 0x7e) return undefined;
    text += String.fromCharCode(code);
  }
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}
