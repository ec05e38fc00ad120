import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { crc32, createDeflateRaw } from "node:zlib";

/** Above it a size or an offset does not fit its field, and stands in an extra field of eight bytes (zip64). */
const maxField = 0xffffffff;
const maxCount = 0xffff;

const utf8Names = 1 << 11;
const deflated = 8;
const stored = 0;
const zip64Extra = 0x0001;
/** Space for the sizes of a large entry. Readers skip extra fields that they do not know. */
const reservedExtra = 0x5649;
const madeByUnix = 3 << 8;
const ownerOnly = 0o100600 << 16;

interface Entry {
  name: Buffer;
  method: number;
  crc: number;
  size: number;
  packedSize: number;
  offset: number;
  modifiedAt: Date;
}

export interface ZipOptions {
  /** For tests: sizes and offsets from here on are written as those of large files. */
  zip64From?: number;
}

/**
 * Writes a ZIP archive entry by entry with little memory, whatever the size of the entries. The header of an entry is written
 * again when its size is known, so that readers of any kind find the sizes where they expect them.
 */
export class ZipFile {
  readonly #file: FileHandle;
  readonly #zip64From: number;
  readonly #entries: Entry[] = [];
  #position = 0;

  constructor(file: FileHandle, { zip64From = maxField }: ZipOptions = {}) {
    this.#file = file;
    this.#zip64From = zip64From;
  }

  /** One entry at a time. What is compressed already is stored as it is. */
  async add(
    name: string,
    content: AsyncIterable<Buffer> | Iterable<Buffer>,
    { modifiedAt, isCompressed = false }: { modifiedAt: Date; isCompressed?: boolean },
  ): Promise<void> {
    const entry: Entry = {
      name: Buffer.from(name, "utf8"),
      method: isCompressed ? stored : deflated,
      crc: 0,
      size: 0,
      packedSize: 0,
      offset: this.#position,
      modifiedAt,
    };
    await this.#append(this.#localHeader(entry));
    const start = this.#position;
    const counted = countInto(entry, content);
    if (isCompressed) for await (const chunk of counted) await this.#append(chunk);
    else {
      await pipeline(Readable.from(counted), createDeflateRaw(), async (packed: AsyncIterable<Buffer>) => {
        for await (const chunk of packed) await this.#append(chunk);
      });
    }
    entry.packedSize = this.#position - start;
    await this.#write(this.#localHeader(entry), entry.offset);
    this.#entries.push(entry);
  }

  /** The directory of the archive: without it the file is no archive. */
  async finish(): Promise<void> {
    const start = this.#position;
    for (const entry of this.#entries) await this.#append(this.#directoryHeader(entry));
    const size = this.#position - start;
    const count = this.#entries.length;
    if (this.#isLarge(start) || this.#isLarge(size) || count >= maxCount) {
      await this.#append(largeDirectoryEnd(count, size, start));
    }
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(Math.min(count, maxCount), 8);
    end.writeUInt16LE(Math.min(count, maxCount), 10);
    end.writeUInt32LE(this.#field(size), 12);
    end.writeUInt32LE(this.#field(start), 16);
    await this.#append(end);
  }

  #isLarge(value: number): boolean {
    return value >= this.#zip64From;
  }

  #field(value: number): number {
    return this.#isLarge(value) ? maxField : value;
  }

  #localHeader(entry: Entry): Buffer {
    const isLarge = this.#isLarge(entry.size) || this.#isLarge(entry.packedSize);
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50, 0);
    writeCommon(header, 4, entry, isLarge);
    header.writeUInt32LE(isLarge ? maxField : entry.packedSize, 18);
    header.writeUInt32LE(isLarge ? maxField : entry.size, 22);
    header.writeUInt16LE(entry.name.length, 26);
    header.writeUInt16LE(20, 28);
    const extra = extraField(isLarge ? zip64Extra : reservedExtra, isLarge ? [entry.size, entry.packedSize] : [0, 0]);
    return Buffer.concat([header, entry.name, extra]);
  }

  #directoryHeader(entry: Entry): Buffer {
    const large = [entry.size, entry.packedSize, entry.offset].filter((value) => this.#isLarge(value));
    const header = Buffer.alloc(46);
    header.writeUInt32LE(0x02014b50, 0);
    header.writeUInt16LE(madeByUnix | 45, 4);
    writeCommon(header, 6, entry, large.length > 0);
    header.writeUInt32LE(this.#field(entry.packedSize), 20);
    header.writeUInt32LE(this.#field(entry.size), 24);
    header.writeUInt16LE(entry.name.length, 28);
    header.writeUInt16LE(large.length === 0 ? 0 : 4 + 8 * large.length, 30);
    header.writeUInt32LE(ownerOnly >>> 0, 38);
    header.writeUInt32LE(this.#field(entry.offset), 42);
    const extra = large.length === 0 ? [] : [extraField(zip64Extra, large)];
    return Buffer.concat([header, entry.name, ...extra]);
  }

  async #append(bytes: Buffer): Promise<void> {
    await this.#write(bytes, this.#position);
    this.#position += bytes.length;
  }

  async #write(bytes: Buffer, position: number): Promise<void> {
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await this.#file.write(bytes, written, bytes.length - written, position + written);
      written += bytesWritten;
    }
  }
}

async function* countInto(entry: Entry, content: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of content) {
    entry.crc = crc32(chunk, entry.crc);
    entry.size += chunk.length;
    yield chunk;
  }
}

/** From the version that is needed to the checksum: the same in both headers. */
function writeCommon(header: Buffer, at: number, entry: Entry, isLarge: boolean): void {
  const time = entry.modifiedAt;
  header.writeUInt16LE(isLarge ? 45 : 20, at);
  header.writeUInt16LE(utf8Names, at + 2);
  header.writeUInt16LE(entry.method, at + 4);
  header.writeUInt16LE(
    (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | Math.floor(time.getUTCSeconds() / 2),
    at + 6,
  );
  header.writeUInt16LE(
    ((time.getUTCFullYear() - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate(),
    at + 8,
  );
  header.writeUInt32LE(entry.crc, at + 10);
}

function extraField(id: number, values: readonly number[]): Buffer {
  const extra = Buffer.alloc(4 + 8 * values.length);
  extra.writeUInt16LE(id, 0);
  extra.writeUInt16LE(8 * values.length, 2);
  for (const [index, value] of values.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  return extra;
}

function largeDirectoryEnd(count: number, size: number, start: number): Buffer {
  const end = Buffer.alloc(56 + 20);
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeUInt16LE(madeByUnix | 45, 12);
  end.writeUInt16LE(45, 14);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(size), 40);
  end.writeBigUInt64LE(BigInt(start), 48);
  // Where the record above is, for readers that come from the end of the file.
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(BigInt(start + size), 64);
  end.writeUInt32LE(1, 72);
  return end;
}
