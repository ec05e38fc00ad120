/** Sound as numbers from -1 to 1, one channel. */
export interface Sound {
  samples: Float32Array;
  rate: number;
}

/** The mean of all channels. */
export function toMono(channels: readonly Float32Array[]): Float32Array {
  const [first] = channels;
  if (!first) return new Float32Array(0);
  if (channels.length === 1) return first;
  const mono = new Float32Array(first.length);
  for (const channel of channels) {
    for (let at = 0; at < mono.length; at++) mono[at] = (mono[at] as number) + (channel[at] ?? 0) / channels.length;
  }
  return mono;
}

export function joinSamples(parts: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

export const isSilent = (samples: Float32Array): boolean => samples.every((value) => Math.abs(value) < 0.01);

const phases = 256;

/** Windowed sinc (Blackman) in 256 phases; what the new rate cannot carry is filtered out first. */
export function resample({ samples, rate }: Sound, target: number): Float32Array {
  if (rate === target) return samples;
  const ratio = target / rate;
  const cutoff = Math.min(1, ratio) * 0.92;
  const half = Math.ceil(24 / Math.min(1, ratio));
  const width = 2 * half;
  const table = sincTable(cutoff, half);
  const result = new Float32Array(Math.floor(samples.length * ratio));
  for (let at = 0; at < result.length; at++) {
    const time = at / ratio;
    const base = Math.floor(time);
    const phase = Math.round((time - base) * phases) * width;
    const start = base - half + 1;
    const last = Math.min(width, samples.length - start);
    let sum = 0;
    for (let tap = Math.max(0, -start); tap < last; tap++) {
      sum += (samples[start + tap] as number) * (table[phase + tap] as number);
    }
    result[at] = sum;
  }
  return result;
}

function sincTable(cutoff: number, half: number): Float32Array {
  const width = 2 * half;
  const table = new Float32Array((phases + 1) * width);
  for (let phase = 0; phase <= phases; phase++) {
    let sum = 0;
    for (let tap = 0; tap < width; tap++) {
      const distance = tap - half + 1 - phase / phases;
      const angle = (Math.PI * distance) / half;
      const window = Math.abs(distance) <= half ? 0.42 + 0.5 * Math.cos(angle) + 0.08 * Math.cos(2 * angle) : 0;
      const sinc = distance === 0 ? cutoff : Math.sin(Math.PI * cutoff * distance) / (Math.PI * distance);
      table[phase * width + tap] = sinc * window;
      sum += sinc * window;
    }
    for (let tap = 0; tap < width; tap++) {
      table[phase * width + tap] = (table[phase * width + tap] as number) / sum;
    }
  }
  return table;
}

/** As loud as a small loudspeaker takes it, but noise that is nearly silence stays so. In place. */
export function raiseLevel(samples: Float32Array): Float32Array {
  let peak = 0;
  for (const value of samples) peak = Math.max(peak, Math.abs(value));
  if (peak <= 0.01) return samples;
  const gain = Math.min(0.89 / peak, 8);
  for (let at = 0; at < samples.length; at++) samples[at] = (samples[at] as number) * gain;
  return samples;
}
