import type { Effect } from "./device-protocol.ts";
import type { Tally } from "./tally.ts";

type VoicePart = Extract<Effect, { kind: "voice_part" }>;

/** What people sent to the watch: the last text and the last voice, whole. A watch has little memory. */
export class Inbox {
  lastText: string | undefined;
  lastVoice: Buffer | undefined;
  readonly #tally: Tally;
  #transfer = "";
  #parts: (Buffer | undefined)[] = [];

  constructor(tally: Tally) {
    this.#tally = tally;
  }

  text(text: string): void {
    this.#tally.texts++;
    this.lastText = text;
  }

  /** A part that comes again takes the place of the first; another transfer starts again. */
  voicePart({ transfer, total, sequence, bytes }: VoicePart): void {
    this.#tally.voicePartsReceived++;
    const name = `${transfer}/${total}`;
    if (this.#transfer !== name || sequence === 1) {
      this.#transfer = name;
      this.#parts = [];
    }
    this.#parts[sequence - 1] = bytes;
    const parts = Array.from({ length: total }, (_, index) => this.#parts[index]);
    if (!parts.every((part) => part !== undefined)) return;
    this.#transfer = "";
    this.#parts = [];
    const voice = Buffer.concat(parts as Buffer[]);
    if (!voice.subarray(0, 6).equals(Buffer.from("#!AMR\n"))) this.#tally.brokenVoices++;
    else {
      this.#tally.voiceReceived++;
      this.lastVoice = voice;
    }
  }
}
