import type { Codec, Decoded, DecodedFrame, Session } from "../codec.ts";
import { makeGbEncoder } from "../gb-text.ts";
import { answerTo, isAnswer, readAnswer, startsWithSerial } from "./iw-answers.ts";
import { makeIwEncoder } from "./iw-downlink.ts";
import { type IwFrame, MalformedFrame } from "./iw-fields.ts";
import { hasStart, isBlank, lastStartWithin, nextPiece, type Piece } from "./iw-framing.ts";
import { readLogin } from "./iw-identity.ts";
import { mediaReply, readMedia, readMediaHeader } from "./iw-media.ts";
import { OTHER_REPORT, REPORTS, replyTo } from "./iw-reports.ts";

/** Health watches of the IW family in dialects A, B and C, and the few frames of TRV units that share their reports. */
export function iwCodec(): Codec {
  return { protocol: "iw", recognizes, decode, encode: makeIwEncoder(makeGbEncoder()), answerTo };
}

function recognizes(start: Buffer): boolean | undefined {
  let at = 0;
  while (at < start.length && isBlank(start[at])) at++;
  const head = start.toString("latin1", at, at + 3);
  if (head.startsWith("IW") || head === "TRV") return true;
  return "IW".startsWith(head) || "TRV".startsWith(head) ? undefined : false;
}

function decode(bytes: Buffer, session: Session): Decoded {
  const decoded: Decoded = { frames: [], problems: [], rest: Buffer.alloc(0) };
  for (let at = 0; ; ) {
    const piece = nextPiece(bytes, at);
    if (piece.kind === "incomplete") {
      decoded.rest = bytes.subarray(piece.start);
      return decoded;
    }
    at = piece.end;
    if (piece.kind === "noise") {
      decoded.problems.push({ reason: "bytes outside of frames", offset: piece.start, isFrame: false });
      continue;
    }
    const frame = readPiece(piece, session);
    if (typeof frame === "string") {
      decoded.problems.push({ reason: frame, offset: piece.start, isFrame: true });
      if (piece.kind === "text") at = lastStartWithin(bytes, piece.start, piece.end) ?? piece.end;
      continue;
    }
    decoded.frames.push({ ...frame, raw: bytes.subarray(piece.start, piece.end) });
    if (frame.messages.at(-1)?.kind === "login") {
      decoded.rest = bytes.subarray(piece.end);
      return decoded;
    }
  }
}

type Content = Omit<DecodedFrame, "raw">;

/** A frame of a device that has not said who it is: the connection closes on it, so nothing in it matters. */
const NO_LOGIN: Content = { messages: [{ kind: "heartbeat" }], replies: [] };

/** What a frame says, or why it says nothing. */
function readPiece(piece: Exclude<Piece, { kind: "incomplete" | "noise" }>, session: Session): Content | string {
  try {
    switch (piece.kind) {
      case "malformed":
        return piece.reason;
      case "text":
        return readFrame(frameOf(piece.prefix, piece.text), session);
      case "media": {
        const media = readMediaHeader(piece.header, piece.data);
        const messages = readMedia(media, session);
        if (!session.device) return NO_LOGIN;
        return { messages, replies: [Buffer.from(mediaReply(media), "latin1")] };
      }
    }
  } catch (error) {
    if (error instanceof MalformedFrame) return error.reason;
    throw error;
  }
}

function frameOf(prefix: string, text: string): IwFrame {
  const code = text.slice(0, 4);
  if (!/^[ACY]P[0-9A-Z]{2}$/.test(code)) throw new MalformedFrame("unknown code");
  const body = text.slice(text[4] === "," ? 5 : 4);
  return { prefix, code, body, fields: body.split(",") };
}

function readFrame(frame: IwFrame, session: Session): Content | string {
  if (frame.code === "AP00") {
    const messages = readLogin(frame);
    session.memory.set("iw.prefix", frame.prefix);
    // The answer needs the device's zone: the connection asks for the downlink "clock" once it knows the device.
    return { messages, replies: [] };
  }
  const content = readText(frame, session);
  return session.device || typeof content === "string" ? content : NO_LOGIN;
}

function readText(frame: IwFrame, session: Session): Content | string {
  const known = REPORTS.get(frame.code);
  if (!known?.hasNames && hasStart(frame.code + frame.body)) return "another frame inside";
  if (isAnswer(frame, session) || (!known && startsWithSerial(frame))) {
    return { messages: [readAnswer(frame)], replies: [] };
  }
  if (frame.code === "AP07" || frame.code === "AP42") return "media without data";
  const report = known ?? OTHER_REPORT;
  return { messages: report.read(frame, session), replies: replyTo(frame, report) };
}
