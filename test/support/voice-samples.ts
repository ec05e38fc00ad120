import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeWav } from "../../src/audio/wav-file.ts";

/** A voice of a kind: vowels of a gliding pitch, with pauses between them. The same in every run. */
export function speechLike(seconds: number, rate: number): Float32Array {
  const samples = new Float32Array(Math.round(seconds * rate));
  let phase = 0;
  for (let at = 0; at < samples.length; at++) {
    const time = at / rate;
    phase += (2 * Math.PI * (130 + 40 * Math.sin(2 * Math.PI * 0.7 * time))) / rate;
    const syllable = Math.max(0, Math.sin(2 * Math.PI * 2.3 * time)) ** 0.5;
    const formant = 500 + 300 * Math.sin(2 * Math.PI * 0.4 * time);
    let value = 0;
    for (let harmonic = 1; harmonic <= 12; harmonic++) {
      const distance = (harmonic * 130 - formant) / 350;
      value += Math.sin(harmonic * phase) * Math.exp(-distance * distance);
    }
    samples[at] = 0.22 * syllable * value;
  }
  return samples;
}

export const wavFile = (seconds: number, rate = 16_000): Buffer =>
  writeWav({ samples: speechLike(seconds, rate), rate });

/** 32-bit floating point samples behind a chunk of so many bytes. */
export function floatWavFile(seconds: number, bytesBefore: number, rate = 16_000): Buffer {
  const samples = speechLike(seconds, rate);
  const chunk = (name: string, content: Buffer): Buffer => {
    const head = Buffer.from(`${name}0000`);
    head.writeUInt32LE(content.length, 4);
    return Buffer.concat([head, content]);
  };
  const format = Buffer.alloc(16);
  format.writeUInt16LE(3, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt32LE(rate * 4, 8);
  format.writeUInt16LE(4, 12);
  format.writeUInt16LE(32, 14);
  const data = Buffer.alloc(samples.length * 4);
  for (const [at, value] of samples.entries()) data.writeFloatLE(value, at * 4);
  const chunks = [chunk("fmt ", format), chunk("LIST", Buffer.alloc(bytesBefore)), chunk("data", data)];
  return chunk("RIFF", Buffer.concat([Buffer.from("WAVE"), ...chunks]));
}

/** Three seconds of speechLike, encoded by ffmpeg at low bit rates; see fixtures/voice/README.md. */
export const fixture = (name: string): Buffer => readFileSync(join(import.meta.dirname, "../fixtures/voice", name));

/** How alike two sounds are in their first second, from 0 to 1, at the best shift of up to 0.05 s. */
export function likeness(a: Float32Array, b: Float32Array, rate: number): number {
  let best = 0;
  const maxShift = Math.round(rate * 0.05);
  for (let shift = -maxShift; shift <= maxShift; shift++) {
    let [ab, aa, bb] = [0, 0, 0];
    for (let at = maxShift; at < rate; at++) {
      const x = a[at] as number;
      const y = b[at + shift] as number;
      ab += x * y;
      aa += x * x;
      bb += y * y;
    }
    best = Math.max(best, Math.abs(ab) / Math.sqrt(aa * bb || 1));
  }
  return best;
}

/** The effective value; silence is 0. */
export const loudness = (samples: Float32Array): number =>
  Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / Math.max(1, samples.length));
