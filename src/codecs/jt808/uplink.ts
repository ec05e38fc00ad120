import { MalformedFrame } from "../malformed-frame.ts";
import type { FrameContent, FrameReport, Session } from "../protocol-definition.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import {
  generalAnswer,
  lockAnswer,
  mediaAnswer,
  readAnswer,
  registrationAnswer,
  resultFailure,
  resultOk,
  timeAnswer,
} from "./answers.ts";
import { type Envelope, readEnvelope, rememberAddress } from "./envelope.ts";
import { OPEN } from "./framing.ts";
import { readLocation } from "./location.ts";
import { readLockReport } from "./lock-report.ts";
import {
  readAcceleration,
  readAttributes,
  readDriver,
  readHeartbeat,
  readMedia,
  readShortRecord,
} from "./other-messages.ts";
import { isRightCode, proofOf, readCode, register } from "./registration.ts";
import { plainText } from "./report.ts";
import { joinParts, type WholeMessage } from "./split-message.ts";
import { readText } from "./text-frame.ts";
import type { Jt808Traits } from "./traits.ts";
import { readTransparent } from "./transparent.ts";

type OwnSession = Session<Jt808Traits>;

const signOfLife: TrackerMessage = { kind: "heartbeat" };

export function readFrame(raw: Buffer, session: OwnSession): FrameContent {
  if (raw[0] === OPEN) return readText(raw, session);
  const envelope = readEnvelope(raw);
  const { device } = session;
  if (device === undefined) {
    rememberAddress(session, envelope.address);
    session.memory.set("first", `${envelope.messageId}/${envelope.serial}`);
    return { messages: [{ kind: "login", id: envelope.id, proof: proofOf(envelope) }], replies: [], isReadAgain: true };
  }
  if (envelope.id !== device.id) throw new MalformedFrame("another terminal number on this connection");
  rememberAddress(session, envelope.address);
  const whole = joinParts(envelope, session);
  // Answered with the last part: what is answered must be stored.
  if (whole === undefined) return { messages: [signOfLife], replies: [] };
  return readMessage({ ...envelope, body: whole.body }, whole, session);
}

function readMessage(envelope: Envelope, { serials }: WholeMessage, session: OwnSession): FrameContent {
  const { address, messageId, serial, body } = envelope;
  const withAnswer = (messages: TrackerMessage[], result = resultOk): FrameContent => ({
    messages: messages.length > 0 ? messages : [signOfLife],
    replies: serials.map((one) => generalAnswer(address, one, messageId, result)),
  });
  const withReports = (reports: FrameReport[]): FrameContent => ({
    ...withAnswer(reports.flatMap(({ messages }) => messages)),
    ...(reports.length > 0 ? { reports } : {}),
  });
  switch (messageId) {
    case 0x0001: {
      const reader = new ByteReader(body);
      const [ours, ourId, result] = [reader.u16(), reader.u16(), reader.u8()];
      return { messages: readAnswer(ourId, ours, result), replies: [] };
    }
    case 0x0002:
      return withAnswer(readHeartbeat(body));
    case 0x0003:
      return withAnswer([{ kind: "authentication", code: null }]);
    case 0x0100: {
      const { messages, code } = register(session);
      return { messages, replies: [registrationAnswer(address, serial, resultOk, code)] };
    }
    case 0x0102: {
      const { code, firmware } = readCode(envelope);
      if (!isRightCode(code, session)) return withAnswer([], resultFailure);
      return withAnswer(firmware === "" ? [] : [{ kind: "info", firmware }]);
    }
    case 0x0104:
      return { messages: readAnswer(0x8104, new ByteReader(body).u16(), 0), replies: [] };
    case 0x0107:
      return withAnswer(readAttributes(body, address.version !== undefined));
    case 0x0109:
      return { messages: [signOfLife], replies: [timeAnswer(address, session.nowMs)] };
    case 0x0200:
      return withReports([{ messages: readLocation(body, false, session), raw: body }]);
    case 0x0201: {
      const messages = readAnswer(0x8201, new ByteReader(body).u16(), 0);
      return { messages: [...messages, ...readLocation(body.subarray(2), false, session)], replies: [] };
    }
    case 0x0210:
    case 0x0704:
      return withReports(readBatch(body, messageId === 0x0704, session));
    case 0x0701:
    case 0x1300:
    case 0x6006:
      return withAnswer(readTextAnswer(messageId, body));
    case 0x0702:
      return withAnswer(readDriver(body, session));
    case 0x0801: {
      const { messages, mediaId } = readMedia(body, session);
      return { messages, replies: [mediaAnswer(address, mediaId)] };
    }
    case 0x0900:
      return withAnswer(readTransparent(body, session));
    case 0x2070:
      return withAnswer(readAcceleration(body, session));
    case 0x5501:
    case 0x5502: {
      const messages = readLockReport(body, messageId === 0x5502, session);
      return { messages, replies: envelope.wantsAnswer ? [lockAnswer(address, messageId)] : [] };
    }
    default:
      // A terminal that gets no answer sends the same again.
      return withAnswer([]);
  }
}

/** Records with their lengths, of two bytes in 0704 and of one in 0210. */
function readBatch(body: Buffer, isStandard: boolean, session: OwnSession): FrameReport[] {
  const reader = new ByteReader(body);
  const count = isStandard ? reader.u16() : Number.POSITIVE_INFINITY;
  const isBuffered = isStandard ? reader.u8() === 1 : false;
  const reports: FrameReport[] = [];
  while (reports.length < count && reader.remaining > 0) {
    const raw = reader.bytes(isStandard ? reader.u16() : reader.u8());
    reports.push({
      raw,
      messages: raw.length === 7 ? readShortRecord(raw, session) : readLocation(raw, isBuffered, session),
    });
  }
  return reports;
}

/** What the terminal writes in answer to a text: 1300 with our serial in UTF-16, 0701 with a length, 6006 bare. */
function readTextAnswer(messageId: number, body: Buffer): TrackerMessage[] {
  const skipped = messageId === 0x1300 ? 2 : messageId === 0x0701 ? 4 : 0;
  const bytes = body.subarray(skipped);
  const result = plainText(bytes);
  const serial = messageId === 0x1300 && body.length >= 2 ? body.readUInt16BE(0) : null;
  return [...readAnswer(0x8300, serial, 0), { kind: "vitals", deviceTimeMs: null, metrics: {}, extra: { result } }];
}
