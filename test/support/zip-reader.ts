import { crc32, inflateRawSync } from "node:zlib";

/** The entries of an archive by name, found through its directory and checked against their checksums. */
export function readZip(archive: Buffer): Map<string, Buffer> {
  const end = archive.length - 22;
  if (archive.readUInt32LE(end) !== 0x06054b50) throw new Error("the archive has no end");
  const isLarge = archive.readUInt32LE(end + 16) === 0xffffffff;
  const large = isLarge ? Number(archive.readBigUInt64LE(end - 20 + 8)) : 0;
  const count = isLarge ? Number(archive.readBigUInt64LE(large + 32)) : archive.readUInt16LE(end + 10);
  let at = isLarge ? Number(archive.readBigUInt64LE(large + 48)) : archive.readUInt32LE(end + 16);
  const entries = new Map<string, Buffer>();
  for (let index = 0; index < count; index++) {
    if (archive.readUInt32LE(at) !== 0x02014b50) throw new Error(`entry ${index} has no header`);
    const [nameLength, extraLength] = [archive.readUInt16LE(at + 28), archive.readUInt16LE(at + 30)];
    const name = archive.toString("utf8", at + 46, at + 46 + nameLength);
    let extra = at + 46 + nameLength + 4;
    const field = (offset: number): number => {
      const value = archive.readUInt32LE(at + offset);
      if (value !== 0xffffffff) return value;
      extra += 8;
      return Number(archive.readBigUInt64LE(extra - 8));
    };
    const [size, packedSize, offset] = [field(24), field(20), field(42)];
    const start = offset + 30 + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
    const packed = archive.subarray(start, start + packedSize);
    const content = archive.readUInt16LE(at + 10) === 8 ? inflateRawSync(packed) : packed;
    if (content.length !== size || crc32(content) !== archive.readUInt32LE(at + 16)) {
      throw new Error(`${name} is damaged`);
    }
    entries.set(name, content);
    at += 46 + nameLength + extraLength;
  }
  return entries;
}
