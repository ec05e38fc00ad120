import { MalformedFrame } from "../malformed-frame.ts";
import type { FrameContent, Session } from "../protocol-definition.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { answersTo, readAnswer } from "./answers.ts";
import { readConfiguration } from "./configuration.ts";
import { commands, type Frame, readHeader } from "./framing.ts";
import { type Item, idOf, readItems, textOf } from "./items.ts";
import { readPendantRecords } from "./pendant.ts";
import { messagesOf } from "./record.ts";
import { readWearableRecords } from "./wearable.ts";

/** Data and services name their device; answers and settings may not, and need a login before them. */
export function readFrame(raw: Buffer, session: Session): FrameContent {
  const frame = readHeader(raw);
  const items = readItems(frame.items);
  const id = idOf(items, frame.command === commands.configuration && frame.version === 0 ? 0x03 : 0x01);
  if (session.device === undefined) {
    if (id === undefined) throw new MalformedFrame("frame without an id before the login");
    return { messages: [{ kind: "login", id }], replies: [], isReadAgain: true };
  }
  if (id !== undefined && id !== session.device.id) throw new MalformedFrame("another id on this connection");
  session.memory.set("version", String(frame.version));
  const messages = readMessages(frame, items);
  return {
    messages: messages.length === 0 ? [{ kind: "heartbeat" }] : messages,
    replies: answersTo(frame, items, session.nowMs),
  };
}

function readMessages(frame: Frame, items: readonly Item[]): TrackerMessage[] {
  switch (frame.command) {
    case commands.data:
    case commands.services: {
      const content = items.filter(({ key }) => key !== 0x01);
      if (frame.command === commands.services) return [];
      const records = frame.version === 1 ? readWearableRecords(content) : readPendantRecords(content);
      return records.flatMap(messagesOf);
    }
    case commands.configuration:
      return items.length === 0 ? [readAnswer(frame, items)] : readConfiguration(items);
    case commands.control:
      return [readAnswer(frame, items), ...controlText(items)];
    case commands.response:
      return [readAnswer(frame, items)];
    default:
      return [];
  }
}

const textAnswer = 0x1f;

/** Some answers are a text, after one byte for its kind. */
function controlText(items: readonly Item[]): TrackerMessage[] {
  const text = textOf(items.find(({ key }) => key === textAnswer)?.value.subarray(1) ?? Buffer.alloc(0));
  return text === "" ? [] : [{ kind: "vitals", deviceTimeMs: null, metrics: {}, extra: { result: text } }];
}
