import { type Codec, type DecodedFrame, UnsupportedDownlink } from "../../src/codecs/codec.ts";
import type { TrackerMessage } from "../../src/codecs/tracker-message.ts";

/**
 * The smallest protocol that can say everything: `{"login":"4901…"}\n`, then `{"n":1,"messages":[…]}\n`; answered with `ok n\n`.
 * It speaks for the watches of the catalog, so that devices of real models can be used.
 */
export function testCodec(protocol = "iw"): Codec {
  return {
    protocol,
    recognizes: (start) => (start.length === 0 ? undefined : start[0] === 0x7b),
    decode: (bytes) => {
      const frames: DecodedFrame[] = [];
      const problems: { reason: string; offset: number; isFrame: boolean }[] = [];
      let at = 0;
      for (let end = bytes.indexOf(10, at); end >= 0; end = bytes.indexOf(10, at)) {
        const raw = bytes.subarray(at, end + 1);
        at = end + 1;
        const frame = read(raw);
        if (!frame) {
          problems.push({ reason: "no JSON", offset: at, isFrame: true });
          continue;
        }
        frames.push(frame);
        if (frame.messages[0]?.kind === "login") break;
      }
      return { frames, problems, rest: bytes.subarray(at) };
    },
    encode: (downlink) => {
      if (downlink.kind !== "clock") throw new UnsupportedDownlink();
      return [Buffer.from("clock\n")];
    },
  };
}

function read(raw: Buffer): DecodedFrame | undefined {
  try {
    const said = JSON.parse(raw.toString()) as {
      login?: string;
      n?: number;
      loud?: number;
      messages?: TrackerMessage[];
    };
    if (said.login !== undefined) return { messages: [{ kind: "login", id: said.login }], replies: [], raw };
    return {
      messages: said.messages ?? [{ kind: "heartbeat" }],
      replies: [Buffer.from(`ok ${said.n}${"!".repeat(said.loud ?? 0)}\n`)],
      raw,
    };
  } catch {
    return undefined;
  }
}
