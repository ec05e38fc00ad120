import { hash } from "./random.ts";

const frameBytes = 32;
const framesPerSecond = 50;

/** An AMR file of 12.2 kbit/s whose content means nothing. It holds every byte that frames use as a mark. */
export function makeAmr(seed: number, seconds: number): Buffer {
  const header = Buffer.from("#!AMR\n");
  const frames = Buffer.alloc(Math.max(1, Math.round(seconds * framesPerSecond)) * frameBytes);
  for (let at = 0; at < frames.length; at += 4) frames.writeUInt32LE(hash(seed, at), at);
  for (let at = 0; at < frames.length; at += frameBytes) frames[at] = 0x3c;
  return Buffer.concat([header, frames]);
}
