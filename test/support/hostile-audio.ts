/** Files that declare more than they hold. Small ones: what they ask for is not in them. */

function crcOfPage(page: Buffer): number {
  let crc = 0;
  for (const byte of page) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000_0000 ? (crc << 1) ^ 0x04c1_1db7 : crc << 1;
  }
  return crc >>> 0;
}

export function oggPage(flags: number, granule: number, sequence: number, packets: readonly Buffer[]): Buffer {
  const lacing = packets.flatMap(({ length }) => [...Array(Math.floor(length / 255)).fill(255), length % 255]);
  const head = Buffer.alloc(27);
  head.write("OggS");
  head.writeUInt8(flags, 5);
  head.writeBigUInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(7, 14);
  head.writeUInt32LE(sequence, 18);
  head.writeUInt8(lacing.length, 26);
  const page = Buffer.concat([head, Buffer.from(lacing), ...packets]);
  page.writeUInt32LE(crcOfPage(page), 22);
  return page;
}

export function opusHead(channels: number, mapping = channels > 2 ? 255 : 0): Buffer {
  const head = Buffer.alloc(19);
  head.write("OpusHead");
  head.writeUInt8(1, 8);
  head.writeUInt8(channels, 9);
  head.writeUInt32LE(48_000, 12);
  head.writeUInt8(mapping, 18);
  const table = Buffer.from(Array.from({ length: channels }, (_, at) => at));
  return mapping === 0 ? head : Buffer.concat([head, Buffer.from([channels, 0]), table]);
}

const opusTags = Buffer.concat([Buffer.from("OpusTags"), Buffer.alloc(8)]);

/** Frames of two bytes, each of which a decoder makes 20 ms of every channel of. */
export function opusFile(channels: number, frames = 200): Buffer {
  const packet = Buffer.concat(Array.from({ length: channels }, () => Buffer.from([0xf8, 0x00])));
  const pages = Array.from({ length: frames }, (_, at) => oggPage(0, (at + 1) * 960, at + 2, [packet]));
  return Buffer.concat([oggPage(2, 0, 0, [opusHead(channels)]), oggPage(0, 0, 1, [opusTags]), ...pages]);
}

export function wavHeader({ channels = 1, rate = 8000, bits = 16, dataBytes = 1000, declared = 0 }): Buffer {
  const file = Buffer.alloc(44 + dataBytes);
  const declaredBytes = declared || dataBytes;
  file.write("RIFF", 0);
  file.writeUInt32LE((36 + declaredBytes) >>> 0, 4);
  file.write("WAVEfmt ", 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(channels, 22);
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(((rate * channels * bits) / 8) >>> 0, 28);
  file.writeUInt16LE(((channels * bits) / 8) & 0xffff, 32);
  file.writeUInt16LE(bits, 34);
  file.write("data", 36);
  file.writeUInt32LE(declaredBytes >>> 0, 40);
  return file;
}

export function box(name: string, ...content: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(8);
  const body = Buffer.concat(content);
  head.writeUInt32BE(8 + body.length, 0);
  head.write(name, 4, "latin1");
  return Buffer.concat([head, body]);
}

const words = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, at * 4);
  return bytes;
};

/** The description of an MP4 file, with tables and times as given. */
export function mp4File({ seconds = 1, channels = 1, samples = 1, times = 1 }): Buffer {
  const entry = Buffer.alloc(28);
  entry.writeUInt16BE(channels, 16);
  entry.writeUInt16BE(16, 18);
  entry.writeUInt32BE(16_000 * 65_536, 24);
  const tables = [
    box("stsd", words(0, 1), box("mp4a", entry)),
    box("stts", words(0, times, 1, 1024)),
    box("stsz", words(0, 512, samples)),
  ];
  const track = box("trak", box("mdia", box("minf", box("stbl", ...tables))));
  const movie = box("moov", box("mvhd", words(0, 0, 0, 1000, seconds * 1000), Buffer.alloc(80)), track);
  return Buffer.concat([box("ftyp", Buffer.from("M4A \0\0\0\0M4A ", "latin1")), movie, box("mdat", Buffer.alloc(64))]);
}
