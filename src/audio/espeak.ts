import { createRequire } from "node:module";
import { isSilent, joinSamples, type Sound } from "./samples.ts";

/** What is used of the speech engine: eSpeak NG, compiled to WebAssembly. */
interface EspeakWorker {
  /** 0: found. Otherwise the voice before goes on speaking. */
  set_voice(name: string): number;
  set_rate(wordsPerMinute: number): void;
  synthesize(text: string, onAudio: (audio: ArrayBuffer | null) => void): void;
}

const engineRate = 22_050;
/** Words per minute. */
const [slowest, fastest] = [160, 400];
/** Where the engine's name is not the language's. */
const voiceNames: Readonly<Record<string, string>> = { en: "en-us", zh: "cmn" };

/** The engine obeys marks in a text, of SSML and of phonemes; a message is only to be read. */
const withoutMarkup = (text: string): string => text.replace(/[<>&]|\[\[|\]\]/g, " ");

/** A text of which nothing can be heard, or not in time, however often it is tried. */
export class Unspeakable extends Error {}

export type Speak = (text: string, language: string, maxSeconds: number) => Sound;

/** An optional package: its licence asks more of those who pass Vigil on than ours does, see NOTICE. */
const packageName = "@echogarden/espeak-ng-emscripten";

export function isEspeakInstalled(name = packageName): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch (error) {
    // Any other failure is about an installed package.
    return (error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND";
  }
}

export async function loadEspeak(): Promise<Speak> {
  const { default: load } = (await import(packageName)) as {
    default(): Promise<{ eSpeakNGWorker: new () => EspeakWorker }>;
  };
  const engine = new (await load()).eSpeakNGWorker();
  return (text, language, maxSeconds) => {
    if (engine.set_voice(voiceNames[language] ?? language.toLowerCase()) !== 0) throw new Error("no such voice");
    const plain = withoutMarkup(text);
    const synthesize = (rate: number): Float32Array => {
      const parts: Float32Array[] = [];
      engine.set_rate(rate);
      engine.synthesize(plain, (audio) => {
        if (audio) parts.push(Float32Array.from(new Int16Array(audio), (value) => value / 32_768));
      });
      return joinSamples(parts);
    };
    for (let needed = slowest; needed <= fastest; ) {
      const rate = needed;
      const samples = synthesize(rate);
      // Of blanks and signs the engine makes a moment of silence.
      if (isSilent(samples)) throw new Unspeakable();
      const seconds = samples.length / engineRate;
      if (seconds <= maxSeconds) return { samples, rate: engineRate };
      // Pauses do not shrink as words do, so a little more than the ratio.
      needed = Math.max(rate + 20, Math.ceil(((rate * seconds) / maxSeconds) * 1.05));
    }
    throw new Unspeakable();
  };
}
