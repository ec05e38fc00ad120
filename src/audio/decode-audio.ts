import { createRequire } from "node:module";
import { fileTypeFromBuffer } from "file-type";
import { amrFrameMs, readAmrFrames } from "../lib/amr-frames.ts";
import { checkHeaders } from "./audio-headers.ts";
import { NotAudio, TooLong } from "./audio-refusals.ts";
import { maxRate, minRate } from "./declared-sound.ts";
import { joinSamples, type Sound, toMono } from "./samples.ts";

/** Files of the accepted formats to sound, detected by their content. Decoding stops where the sound becomes too long. */

interface StreamDecoder {
  decode(chunk: Uint8Array): DecodedPart | Promise<DecodedPart>;
  flush?(): DecodedPart | Promise<DecodedPart>;
  free(): void;
}
interface DecodedPart {
  channelData: readonly Float32Array[];
  sampleRate: number;
}
interface DecoderModule {
  decoder(): StreamDecoder | Promise<StreamDecoder>;
}

const decoders: Readonly<Record<string, () => Promise<DecoderModule>>> = {
  wav: () => import("@audio/decode-wav"),
  mp3: () => import("@audio/decode-mp3") as Promise<DecoderModule>,
  ogg: () => import("@audio/decode-vorbis"),
  opus: () => import("@audio/decode-opus") as Promise<DecoderModule>,
};
const containers = new Set(["m4a", "m4b", "mp4", "webm"]);

const chunkBytes = 32_768;

/** Sound that is collected part by part, up to a limit. */
class Collector {
  readonly #parts: Float32Array[] = [];
  readonly #maxSeconds: number;
  #length = 0;
  #rate = 0;

  constructor(maxSeconds: number) {
    this.#maxSeconds = maxSeconds;
  }

  add(channels: readonly Float32Array[], rate: number): void {
    if (!channels[0]?.length) return;
    if (!(rate >= minRate && rate <= maxRate) || (this.#rate !== 0 && rate !== this.#rate)) throw new NotAudio();
    this.#rate = rate;
    // A copy: decoders hand out views of memory that they use again.
    const mono = Float32Array.from(toMono(channels), (value) => (Number.isFinite(value) ? value : 0));
    this.#parts.push(mono);
    this.#length += mono.length;
    if (this.#length > this.#maxSeconds * rate) throw new TooLong();
  }

  sound(): Sound {
    if (this.#length === 0) throw new NotAudio();
    return { samples: joinSamples(this.#parts), rate: this.#rate };
  }
}

/** Throws NotAudio or TooLong. */
export async function decodeAudio(file: Buffer, maxSeconds: number): Promise<Sound> {
  if (readAmrFrames(file)) return decodeAmr(file, maxSeconds);
  const type = await fileTypeFromBuffer(file);
  const load = decoders[type?.ext ?? ""];
  try {
    checkHeaders(type?.ext ?? "", file, maxSeconds);
    if (load) return await decodeStream(await load(), file, maxSeconds);
    if (containers.has(type?.ext ?? "")) return await decodeContainer(file, maxSeconds);
  } catch (error) {
    if (error instanceof TooLong) throw error;
    throw new NotAudio("the file cannot be decoded", { cause: error });
  }
  throw new NotAudio();
}

/** The frames are checked first: damaged ones can hold the decoder for ever. */
export async function decodeAmr(file: Buffer, maxSeconds: number): Promise<Sound> {
  const frames = readAmrFrames(file);
  if (!frames?.isWhole || frames.count === 0) throw new NotAudio();
  if (frames.count * amrFrameMs > maxSeconds * 1000) throw new TooLong();
  return decodeStream((await import("@audio/decode-amr")) as DecoderModule, file, maxSeconds);
}

async function decodeStream(module: DecoderModule, file: Buffer, maxSeconds: number): Promise<Sound> {
  const collector = new Collector(maxSeconds);
  const decoder = await module.decoder();
  try {
    // A Buffer will not do: its slice() is no copy, and a decoder that aligns samples with it fails.
    const bytes = new Uint8Array(file.buffer, file.byteOffset, file.length);
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      const part = await decoder.decode(bytes.subarray(at, at + chunkBytes));
      collector.add(part.channelData, part.sampleRate);
    }
    const rest = await decoder.flush?.();
    if (rest) collector.add(rest.channelData, rest.sampleRate);
  } finally {
    decoder.free();
  }
  return collector.sound();
}

interface LibavStream {
  index: number;
  codec_type: number;
  codec_id: number;
  codecpar: number;
}
interface LibavFrame {
  data: Float32Array | Int16Array | (Float32Array | Int16Array)[];
  nb_samples: number;
  sample_rate: number;
  channels?: number;
}
/** The few functions of libav.js that are used; see its documentation. */
interface Libav {
  EAGAIN: number;
  AVMEDIA_TYPE_AUDIO: number;
  writeFile(name: string, bytes: Uint8Array): Promise<void>;
  ff_init_demuxer_file(name: string): Promise<[number, LibavStream[]]>;
  ff_init_decoder(codec: number, parameters: number): Promise<[number, number, number, number]>;
  ff_read_multi(
    context: number,
    packet: number,
    device: undefined,
    options: { limit: number },
  ): Promise<[number, Record<number, object[]>]>;
  ff_decode_multi(
    context: number,
    packet: number,
    frame: number,
    packets: object[],
    isLast: boolean,
  ): Promise<LibavFrame[]>;
}

/** AAC in M4A, Opus in WebM. A new instance each time: what a damaged file leaves behind goes with it. */
async function decodeContainer(file: Buffer, maxSeconds: number): Promise<Sound> {
  const require = createRequire(import.meta.url);
  const { LibAV } = require("@libav.js/variant-mediarecorder-transcoder") as {
    LibAV(options: { noworker: boolean }): Promise<Libav>;
  };
  const libav = await LibAV({ noworker: true });
  const collector = new Collector(maxSeconds);
  await libav.writeFile("in", file);
  const [format, streams] = await libav.ff_init_demuxer_file("in");
  const stream = streams.find(({ codec_type }) => codec_type === libav.AVMEDIA_TYPE_AUDIO);
  if (!stream) throw new NotAudio();
  const [, context, packet, frame] = await libav.ff_init_decoder(stream.codec_id, stream.codecpar);
  for (let isLast = false; !isLast; ) {
    const [result, packets] = await libav.ff_read_multi(format, packet, undefined, { limit: 2 * chunkBytes });
    isLast = result !== -libav.EAGAIN;
    const frames = await libav.ff_decode_multi(context, packet, frame, packets[stream.index] ?? [], isLast);
    for (const one of frames) collector.add(channelsOf(one), one.sample_rate);
  }
  return collector.sound();
}

function channelsOf({ data, nb_samples: length, channels = 1 }: LibavFrame): Float32Array[] {
  const asFloat = (values: Float32Array | Int16Array): Float32Array =>
    values instanceof Int16Array ? Float32Array.from(values, (value) => value / 32_768) : values;
  if (Array.isArray(data)) return data.map((plane) => asFloat(plane).subarray(0, length));
  const flat = asFloat(data);
  return Array.from({ length: channels }, (_, channel) =>
    Float32Array.from({ length }, (_, at) => flat[at * channels + channel] ?? 0),
  );
}
