import { NotAudio } from "./audio-refusals.ts";
import { checkDeclared } from "./declared-sound.ts";

/** Elements of WebM that are looked into or read. */
const ids = {
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  duration: 0x4489,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  audio: 0xe1,
  samplingFrequency: 0xb5,
  channels: 0x9f,
  cluster: 0x1f43b675,
} as const;
const containers: ReadonlySet<number> = new Set([ids.segment, ids.info, ids.tracks, ids.trackEntry, ids.audio]);
const maxElements = 5000;

/** The elements of a WebM file up to its first cluster: sizes that lie within the file, sound of a sane form. */
export function checkEbml(file: Buffer, maxSeconds: number): void {
  let elements = 0;
  let scaleNs = 1_000_000;
  let duration: number | undefined;
  const walk = (from: number, end: number, depth: number): void => {
    for (let at = from; at < end; ) {
      if (++elements > maxElements) throw new NotAudio();
      const { id, start, next } = elementAt(file, at, end);
      if (id === ids.cluster) return;
      if (containers.has(id) && depth < 6) walk(start, next, depth + 1);
      const value = file.subarray(start, next);
      if (id === ids.timestampScale) scaleNs = unsigned(value);
      if (id === ids.duration) duration = float(value);
      if (id === ids.channels) checkDeclared({ channels: unsigned(value) }, maxSeconds);
      if (id === ids.samplingFrequency) checkDeclared({ rate: float(value) }, maxSeconds);
      at = next;
    }
  };
  walk(0, file.length, 0);
  checkDeclared({ seconds: duration === undefined ? undefined : (duration * scaleNs) / 1e9 }, maxSeconds);
}

function elementAt(file: Buffer, at: number, end: number): { id: number; start: number; next: number } {
  const idBytes = Math.clz32(file.readUInt8(at)) - 23;
  if (idBytes > 4) throw new NotAudio();
  const id = file.readUIntBE(at, idBytes);
  const sizeAt = at + idBytes;
  const first = file.readUInt8(sizeAt);
  const sizeBytes = Math.clz32(first) - 23;
  if (sizeBytes > 8) throw new NotAudio();
  const start = sizeAt + sizeBytes;
  let size = first & (0xff >> sizeBytes);
  let isUnknown = size === 0xff >> sizeBytes;
  for (let more = sizeAt + 1; more < start; more++) {
    const byte = file.readUInt8(more);
    size = size * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  // Recorders that stream do not know how long a segment or a cluster will be, and a stopped one leaves it cut off.
  const isOpen = isUnknown || id === ids.segment || id === ids.cluster;
  const next = isOpen ? Math.min(end, isUnknown ? end : start + size) : start + size;
  if (next > end) throw new NotAudio();
  return { id, start, next };
}

const unsigned = (value: Buffer): number => value.reduce((sum, byte) => sum * 256 + byte, 0);

function float(value: Buffer): number {
  if (value.length === 4) return value.readFloatBE(0);
  return value.length === 8 ? value.readDoubleBE(0) : Number.NaN;
}
