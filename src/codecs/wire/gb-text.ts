/**
 * Makes an encoder for GB2312, which the runtime can read but not write. A character outside the set becomes a question mark.
 * The table is built with the first text: 8,178 pairs, measured at 10 to 25 ms.
 */
export function makeGbEncoder(): (text: string) => Buffer {
  let codes: ReadonlyMap<string, number> | undefined;
  return (text) => {
    codes ??= codeTable();
    const bytes: number[] = [];
    for (const character of text) {
      const code = codes.get(character);
      if (character < "\u0080") bytes.push(character.charCodeAt(0));
      else if (code === undefined) bytes.push(0x3f);
      else bytes.push(code >> 8, code & 0xff);
    }
    return Buffer.from(bytes);
  };
}

function codeTable(): ReadonlyMap<string, number> {
  const decoder = new TextDecoder("gbk");
  const codes = new Map<string, number>();
  for (let high = 0xa1; high <= 0xf7; high++) {
    for (let low = 0xa1; low <= 0xfe; low++) {
      const character = decoder.decode(Uint8Array.of(high, low));
      // Pairs that are not assigned are read as replacement or private characters.
      if (character.length === 1 && !/[\ufffd\ue000-\uf8ff]/.test(character)) codes.set(character, (high << 8) | low);
    }
  }
  return codes;
}
