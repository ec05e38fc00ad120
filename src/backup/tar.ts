/** The tar format (ustar) as far as a backup needs it: folders and files with short names, streamed. */
const blockBytes = 512;
const maxPathBytes = 100;
const maxFileBytes = 8 ** 11 - 1;

/** The bytes are not an archive of ours, or not all of them are there. */
export class TarError extends Error {}

/** The header of an entry. The bytes of a file follow, and then `tarPadding`. A folder has no size and no bytes. */
export function tarHeader(path: string, size: number | undefined): Buffer {
  const isFolder = size === undefined;
  const name = isFolder ? `${path}/` : path;
  if (Buffer.byteLength(name) > maxPathBytes) throw new TarError(`the name ${path} is too long for a backup`);
  if ((size ?? 0) > maxFileBytes) throw new TarError(`the file ${path} is too large for a backup`);
  const header = Buffer.alloc(blockBytes);
  header.write(name, 0);
  header.write(isFolder ? "0000700\0" : "0000600\0", 100);
  header.write("0000000\0", 108);
  header.write("0000000\0", 116);
  header.write(`${(size ?? 0).toString(8).padStart(11, "0")}\0`, 124);
  header.write("00000000000\0", 136);
  header.write(isFolder ? "5" : "0", 156);
  header.write("ustar\x0000", 257);
  header.write(`${checksumOf(header).toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

export const tarPadding = (size: number): Buffer => Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);
export const tarEnd = (): Buffer => Buffer.alloc(2 * blockBytes);

/** The sum of all bytes, those of the checksum itself as spaces. */
function checksumOf(header: Buffer): number {
  let sum = 0;
  for (let index = 0; index < blockBytes; index++) {
    sum += index >= 148 && index < 156 ? 0x20 : (header[index] as number);
  }
  return sum;
}

export interface TarEntry {
  path: string;
  /** Undefined: a folder. */
  size: number | undefined;
  /** The bytes, which must be read before the next entry is asked for. */
  content: AsyncIterable<Buffer>;
}

/** Reads the entries up to the end of the archive. Throws TarError, also when bytes follow the end or it is missing. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const bytes = new ByteSource(source);
  for (;;) {
    const header = await bytes.take(blockBytes);
    if (header.every((byte) => byte === 0)) break;
    const entry = parseHeader(header);
    const size = entry.size ?? 0;
    yield { ...entry, content: bytes.pieces(size) };
    await bytes.take(tarPadding(size).length);
  }
  const end = await bytes.take(blockBytes);
  if (!end.every((byte) => byte === 0) || !(await bytes.isAtEnd())) throw new TarError("bytes follow its end");
}

function parseHeader(header: Buffer): { path: string; size: number | undefined } {
  const text = (start: number, end: number): string => header.toString("latin1", start, end).replace(/[\0 ].*$/s, "");
  if (parseInt(text(148, 156), 8) !== checksumOf(header)) throw new TarError("a header is damaged");
  const name = text(0, maxPathBytes);
  const size = parseInt(text(124, 136), 8);
  if (!Number.isSafeInteger(size)) throw new TarError("a header is damaged");
  return text(156, 157) === "5" ? { path: name.replace(/\/$/, ""), size: undefined } : { path: name, size };
}

class ByteSource {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  async take(count: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.pieces(count)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async *pieces(count: number): AsyncGenerator<Buffer> {
    for (let missing = count; missing > 0; ) {
      if (await this.isAtEnd()) throw new TarError("its end is missing");
      const piece = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(piece.length);
      missing -= piece.length;
      yield piece;
    }
  }

  async isAtEnd(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done) return true;
      this.#rest = next.value;
    }
    return false;
  }
}
