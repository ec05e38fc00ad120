import { createRequire } from "node:module";

/** opencore-amr as asm.js. Its wrapper drops the last frame, so it gets one more. */
interface AmrLibrary {
  encode(samples: Float32Array, rate: number, mode: number): Uint8Array | null;
}

const samplesPerFrame = 160;
export const amrRate = 8000;
/** Bits per second of the modes 0 to 7. */
const modeRates = [4750, 5150, 5900, 6700, 7400, 7950, 10_200, 12_200];

/** The best mode that is not above the rate. */
export const modeOf = (bitRate: number): number =>
  Math.max(
    0,
    modeRates.findLastIndex((rate) => rate <= bitRate),
  );

/** Samples at 8 kHz to an AMR-NB file of as many whole frames as hold them. Only for worker threads: it listens for uncaught errors. */
export function makeAmrEncoder(): (samples: Float32Array, mode: number) => Buffer {
  const library = createRequire(import.meta.url)("amr-js/library/amrnb.js") as AmrLibrary;
  // The library would keep the thread alive over an error that must end it.
  process.removeAllListeners("uncaughtException");
  return (samples, mode) => {
    const padded = new Float32Array((Math.ceil(samples.length / samplesPerFrame) + 1) * samplesPerFrame);
    padded.set(samples);
    const file = library.encode(padded, amrRate, mode);
    if (!file) throw new Error("the AMR encoder failed");
    return Buffer.from(file);
  };
}
