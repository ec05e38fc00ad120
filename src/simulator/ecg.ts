import { bell, between, wandering } from "./random.ts";

export interface EcgRecording {
  startMs: number;
  samplingRateHz: number;
  /** Microvolts. */
  samples: readonly number[];
}

/** P, Q, R, S and T as bells: place in the beat, width, and height in microvolts. */
const waves = [
  [-0.19, 0.025, 110],
  [-0.045, 0.01, -120],
  [0, 0.011, 1050],
  [0.04, 0.012, -240],
  [0.27, 0.045, 290],
] as const;

/** One lead of a heart that beats so often, a little irregular and with noise. The same arguments give the same samples. */
export function makeEcg(
  seed: number,
  pulse: number,
  startMs: number,
  seconds = 30,
  samplingRateHz = 250,
): EcgRecording {
  const beats: number[] = [];
  const meanBeatS = 60 / pulse;
  const height = between(0.7, 1.3, seed, "height");
  for (let atS = -0.5; atS < seconds + 1; ) {
    beats.push(atS);
    atS += meanBeatS * (1 + 0.03 * bell(seed, "beat", startMs, beats.length));
  }
  let nearest = 0;
  const samples = Array.from({ length: Math.round(seconds * samplingRateHz) }, (_, index) => {
    const atS = index / samplingRateHz;
    while (
      nearest + 1 < beats.length &&
      Math.abs((beats[nearest + 1] as number) - atS) < Math.abs((beats[nearest] as number) - atS)
    ) {
      nearest++;
    }
    let value = 40 * wandering(atS * 1000, 900, seed, "breath", startMs) + 8 * bell(seed, "noise", startMs, index);
    for (const beat of beats.slice(Math.max(0, nearest - 1), nearest + 2)) {
      for (const [place, width, high] of waves) {
        const away = (atS - beat - place) / width;
        if (Math.abs(away) < 5) value += height * high * Math.exp((-away * away) / 2);
      }
    }
    return Math.round(value);
  });
  return { startMs, samplingRateHz, samples };
}
