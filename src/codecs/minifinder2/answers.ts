import type { CommandAnswer } from "../tracker-message.ts";
import { commands, type Frame, writeFrame } from "./framing.ts";
import { type Item, writeItem } from "./items.ts";

const timeRequest = 0x12;
const placeRequest = 0x11;

/** What the device waits for. A wrong checksum never comes here and is not answered, so the device sends the frame again. */
export function answersTo(frame: Frame, items: readonly Item[], nowMs: number): Buffer[] {
  if (!frame.isAnswerWanted || frame.command === commands.response) return [];
  const services = frame.command === commands.services ? items.flatMap((item) => answerService(item, nowMs)) : [];
  const payload =
    services.length > 0
      ? Buffer.concat([Buffer.from([commands.services]), ...services])
      : Buffer.from(frame.version === 1 ? [frame.command] : [commands.response, 1, 0]);
  return [writeFrame(payload, frame.sequence, frame.version, frame.version === 1)];
}

function answerService({ key }: Item, nowMs: number): Buffer[] {
  if (key === timeRequest) {
    const seconds = Buffer.alloc(4);
    seconds.writeUInt32LE(Math.floor(nowMs / 1000) >>> 0);
    return [writeItem(key, seconds)];
  }
  // Where the cells and networks around it are: zeros and no address, as nobody knows that before the commit.
  return key === placeRequest ? [writeItem(key, Buffer.alloc(9))] : [];
}

/** Reasons of version 1. */
const unsupported: ReadonlySet<number> = new Set([0x05, 0x08, 0x0d]);
const wrongParameters: ReadonlySet<number> = new Set([0x01, 0x02, 0x03, 0x0b]);

/** `7F` with a reason, of which 0 is success; a watch that accepts repeats the bare command. The sequence id is our serial. */
export function readAnswer({ version, command, sequence }: Frame, items: readonly Item[]): CommandAnswer {
  const reason = items[0]?.key ?? 0;
  const answer = { kind: "command_answer", serial: String(sequence), fields: [] } as const;
  const word = command.toString(16).toUpperCase().padStart(2, "0");
  if (reason === 0 || command !== commands.response) return { ...answer, word, isAccepted: true, fields: [] };
  const refusal =
    version === 1 && unsupported.has(reason)
      ? "not_supported"
      : version === 1 && wrongParameters.has(reason)
        ? "invalid_params"
        : "device_rejected";
  return { ...answer, word, isAccepted: false, refusal, fields: [String(reason)] };
}
