import { NotAudio } from "./audio-refusals.ts";
import { checkDeclared } from "./declared-sound.ts";

const containers = new Set(["moov", "trak", "mdia", "minf", "stbl"]);
/** Bytes of an entry, by the table; a decoder makes room for as many entries as are declared. */
const entryBytes: Readonly<Record<string, number>> = { stts: 8, ctts: 8, stsc: 12, stco: 4, co64: 8, stss: 4 };
const maxBoxes = 2000;
const maxSamples = 1_000_000;

/** The boxes of an MP4 file: sizes that lie within their box, tables that hold what they declare, sound of a sane form. */
export function checkMp4(file: Buffer, maxSeconds: number): void {
  let boxes = 0;
  const walk = (from: number, end: number, depth: number): void => {
    for (let at = from; at + 8 <= end; ) {
      if (++boxes > maxBoxes) throw new NotAudio();
      const { name, start, next } = boxAt(file, at, end);
      if (containers.has(name) && depth < 6) walk(start, next, depth + 1);
      else checkBox(name, file.subarray(start, next), maxSeconds);
      at = next;
    }
  };
  walk(0, file.length, 0);
}

function boxAt(file: Buffer, at: number, end: number): { name: string; start: number; next: number } {
  const declared = file.readUInt32BE(at);
  const name = file.toString("latin1", at + 4, at + 8);
  const isLarge = declared === 1;
  const size = declared === 0 ? end - at : isLarge ? Number(file.readBigUInt64BE(at + 8)) : declared;
  const headBytes = isLarge ? 16 : 8;
  // Media may be cut off by a recorder that was stopped; what describes it may not.
  const next = name === "mdat" ? Math.min(end, at + size) : at + size;
  if (size < headBytes || next > end) throw new NotAudio();
  return { name, start: at + headBytes, next };
}

function checkBox(name: string, box: Buffer, maxSeconds: number): void {
  if (name === "mvhd") {
    const isLong = box.readUInt8(0) === 1;
    const timescale = box.readUInt32BE(isLong ? 20 : 12);
    const duration = isLong ? Number(box.readBigUInt64BE(24)) : box.readUInt32BE(16);
    const isKnown = timescale > 0 && duration < (isLong ? 2 ** 63 : 0xffff_ffff);
    checkDeclared({ seconds: isKnown ? duration / timescale : undefined }, maxSeconds);
  }
  if (name === "stsd") checkSampleEntries(box, maxSeconds);
  const bytes = entryBytes[name];
  if (bytes !== undefined && box.readUInt32BE(4) * bytes > box.length - 8) throw new NotAudio();
  if (name === "stsz") {
    const count = box.readUInt32BE(8);
    const isTable = box.readUInt32BE(4) === 0;
    if (count > maxSamples || (isTable && count * 4 > box.length - 12)) throw new NotAudio();
  }
}

function checkSampleEntries(box: Buffer, maxSeconds: number): void {
  for (let at = 8; at + 8 <= box.length; ) {
    const { name, start, next } = boxAt(box, at, box.length);
    if (name === "mp4a" || name === "Opus") {
      const channels = box.readUInt16BE(start + 16);
      const rate = box.readUInt32BE(start + 24) / 65_536;
      checkDeclared({ channels, rate: rate === 0 ? undefined : rate }, maxSeconds);
    }
    at = next;
  }
}
