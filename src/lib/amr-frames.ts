/** The frames of an AMR file (RFC 4867 5), detected by their first bytes alone. Each is 20 ms. */
export interface AmrFrames {
  isWideband: boolean;
  count: number;
  /** The highest mode of speech: 0 is 4.75 kbit/s, 7 is 12.2 kbit/s (narrow band). */
  maxMode: number;
  /** False: a frame is damaged or cut, and what follows it was not read. */
  isWhole: boolean;
  /** Where the last of the frames ends. */
  end: number;
}

export const amrFrameMs = 20;
const narrowHeader = Buffer.from("#!AMR\n");
const wideHeader = Buffer.from("#!AMR-WB\n");
/** Bytes after the first one, by type; -1: no such type. */
const narrowSizes = [12, 13, 15, 17, 19, 20, 26, 31, 5, -1, -1, -1, -1, -1, -1, 0];
const wideSizes = [17, 23, 32, 36, 40, 46, 50, 58, 60, 5, -1, -1, -1, -1, 0, 0];

/** Undefined: no AMR file of one channel. Frames beyond the limit are not read. */
export function readAmrFrames(file: Uint8Array, limit = Number.POSITIVE_INFINITY): AmrFrames | undefined {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const isWideband = bytes.subarray(0, wideHeader.length).equals(wideHeader);
  if (!isWideband && !bytes.subarray(0, narrowHeader.length).equals(narrowHeader)) return undefined;
  const sizes = isWideband ? wideSizes : narrowSizes;
  const end = isWideband ? wideHeader.length : narrowHeader.length;
  const frames: AmrFrames = { isWideband, count: 0, maxMode: 0, isWhole: true, end };
  while (frames.end < bytes.length && frames.count < limit) {
    const head = bytes[frames.end] as number;
    const type = (head >> 3) & 15;
    const size = sizes[type] as number;
    // The padding bits of a frame's head are zero.
    frames.isWhole = size >= 0 && (head & 0x83) === 0 && frames.end + 1 + size <= bytes.length;
    if (!frames.isWhole) return frames;
    frames.end += 1 + size;
    frames.count++;
    if (type <= 7) frames.maxMode = Math.max(frames.maxMode, type);
  }
  return frames;
}
