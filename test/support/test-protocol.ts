import { MalformedFrame } from "../../src/codecs/malformed-frame.ts";
import { NoTraits } from "../../src/codecs/no-traits.ts";
import {
  type FrameContent,
  type ProtocolDefinition,
  type Session,
  type Transport,
  UnsupportedDownlink,
} from "../../src/codecs/protocol-definition.ts";
import { sixDigitSerial } from "../../src/codecs/serials.ts";
import { imeiOnly } from "../../src/codecs/terminal-ids.ts";
import type { TrackerMessage } from "../../src/codecs/tracker-message.ts";

/**
 * The smallest protocol that can say everything: `{"login":"4901…"}\n`, then `{"n":1,"messages":[…]}\n`; answered with `ok n\n`.
 * A frame with `id` names its device and needs no login before it. It speaks for the watches of the catalog, so that devices of
 * real models can be used.
 */
export function testProtocol(slug = "iw", transports: readonly Transport[] = ["tcp"]): ProtocolDefinition {
  return {
    slug,
    transports,
    traits: NoTraits,
    maxFrameBytes: 8192,
    terminalIds: imeiOnly,
    serialOf: sixDigitSerial,
    modeSeconds: {},
    recognizes: (start) => (start.length === 0 ? undefined : start[0] === 0x7b),
    nextPiece: (bytes, at, scannedTo) => {
      const end = bytes.indexOf(10, scannedTo);
      return end < 0
        ? { kind: "incomplete", start: at, scannedTo: bytes.length }
        : { kind: "frame", start: at, end: end + 1 };
    },
    readFrame,
    encode: (downlink) => {
      if (downlink.kind !== "clock") throw new UnsupportedDownlink();
      return [Buffer.from("clock\n")];
    },
  };
}

function readFrame(raw: Buffer, { device }: Session): FrameContent {
  try {
    const said = JSON.parse(raw.toString()) as {
      id?: string;
      login?: string;
      /** The SIM, told with the login. */
      iccid?: string;
      n?: number;
      loud?: number;
      messages?: TrackerMessage[];
    };
    if (said.login !== undefined) {
      const info: TrackerMessage[] = said.iccid === undefined ? [] : [{ kind: "info", iccid: said.iccid }];
      return { messages: [...info, { kind: "login", id: said.login }], replies: [] };
    }
    if (said.id !== undefined && !device) {
      return { messages: [{ kind: "login", id: said.id }], replies: [], isReadAgain: true };
    }
    if (said.id !== undefined && said.id !== device?.id) throw new MalformedFrame("another device");
    return {
      messages: said.messages ?? [{ kind: "heartbeat" }],
      replies: [Buffer.from(`ok ${said.n}${"!".repeat(said.loud ?? 0)}\n`)],
    };
  } catch {
    throw new MalformedFrame("no JSON");
  }
}
