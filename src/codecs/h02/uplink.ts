import { MalformedFrame } from "../malformed-frame.ts";
import type { FrameContent, Session } from "../protocol-definition.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { readWholeNumber } from "../wire/numbers.ts";
import { openText, readAnswer, repliesTo, type TextFrame } from "./answers.ts";
import { openBinary } from "./binary.ts";
import { batteryOf } from "./fields.ts";
import { readCells, readLink, readNeighbours, readShortPosition } from "./networks.ts";
import { messagesOf, readPlace } from "./positions.ts";

export const makerKey = "maker";

/** Every frame names its device: the first one is the login, and is then read again. */
export function readFrame(raw: Buffer, session: Session): FrameContent {
  return raw[0] === 0x2a ? readText(raw, session) : readBinary(raw, session);
}

function readText(raw: Buffer, session: Session): FrameContent {
  const frame = openText(raw.toString("latin1"));
  if (frame === undefined) throw new MalformedFrame("text frame that cannot be read");
  if (session.device === undefined) {
    session.memory.set(makerKey, frame.maker);
    return login(frame.id);
  }
  expectId(frame.id, session);
  session.memory.set(makerKey, frame.maker);
  return { messages: messagesOfText(frame, session), replies: repliesTo(frame, session.nowMs) };
}

function readBinary(raw: Buffer, session: Session): FrameContent {
  const frame = openBinary(raw);
  if (session.device === undefined) return login(frame.id);
  expectId(frame.id, session);
  return { messages: frame.read(session.memory), replies: [] };
}

const login = (id: string): FrameContent => ({ messages: [{ kind: "login", id }], replies: [], isReadAgain: true });

/** Units write their IMEI in one kind of frame and ten digits of it in another. */
function expectId(id: string, { device }: Session): void {
  if (device && id !== device.id && id !== device.imei && id !== device.imei.slice(4, 14)) {
    throw new MalformedFrame("another id on this connection");
  }
}

function messagesOfText({ type, fields }: TextFrame, session: Session): TrackerMessage[] {
  const { memory } = session;
  switch (type.toUpperCase()) {
    case "V0":
    case "HTBT":
      return readHeartbeat(fields);
    case "V3":
      return readCells(fields, memory);
    case "V4": {
      const { answer, position } = readAnswer(fields);
      return position.length === 0 ? [answer] : [...messagesOf(readPlace(position, memory)), answer];
    }
    case "NBR":
      return readNeighbours(fields, memory);
    case "LINK":
      return readLink(fields, memory);
    case "VP1":
      return readShortPosition(fields);
    default:
      return /^V/i.test(type) && fields.length >= 8 ? messagesOf(readPlace(fields, memory)) : [{ kind: "heartbeat" }];
  }
}

function readHeartbeat(fields: readonly string[]): TrackerMessage[] {
  const battery = readWholeNumber(fields[0]);
  if (fields.length !== 1 || battery === null) return [{ kind: "heartbeat" }];
  const bat = battery > 6 && battery <= 100 ? battery : batteryOf(battery);
  return [{ kind: "vitals", deviceTimeMs: null, metrics: { bat }, extra: {} }];
}
