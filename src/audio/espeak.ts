import { joinSamples, type Sound } from "./samples.ts";

/** What is used of the speech engine: eSpeak NG, compiled to WebAssembly. */
interface EspeakWorker {
  /** 0: found. Otherwise the voice before goes on speaking. */
  set_voice(name: string): number;
  set_rate(wordsPerMinute: number): void;
  synthesize(text: string, onAudio: (audio: ArrayBuffer | null) => void): void;
}

const engineRate = 22_050;
/** Words per minute: as slow as fits. */
const rates = [160, 190, 225, 270, 330, 400];
/** Where the engine's name is not the language's. */
const voiceNames: Readonly<Record<string, string>> = { en: "en-us", zh: "cmn" };

/** The engine obeys marks in a text, of SSML and of phonemes; a message is only to be read. */
export const withoutMarkup = (text: string): string => text.replace(/[<>&]|\[\[|\]\]/g, " ");

export type Speak = (text: string, language: string, maxSeconds: number) => Sound;

export async function loadEspeak(): Promise<Speak> {
  const name = "@echogarden/espeak-ng-emscripten";
  const { default: load } = (await import(name)) as { default(): Promise<{ eSpeakNGWorker: new () => EspeakWorker }> };
  const engine = new (await load()).eSpeakNGWorker();
  return (text, language, maxSeconds) => {
    if (engine.set_voice(voiceNames[language] ?? language.toLowerCase()) !== 0) throw new Error("no such voice");
    const plain = withoutMarkup(text);
    for (const rate of rates) {
      engine.set_rate(rate);
      const parts: Float32Array[] = [];
      engine.synthesize(plain, (audio) => {
        if (audio) parts.push(Float32Array.from(new Int16Array(audio), (value) => value / 32_768));
      });
      const samples = joinSamples(parts);
      if (samples.length === 0) throw new Error("nothing to say");
      if (samples.length <= maxSeconds * engineRate) return { samples, rate: engineRate };
    }
    throw new Error("the text cannot be spoken in time");
  };
}
