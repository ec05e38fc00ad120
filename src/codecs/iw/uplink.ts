import { MalformedFrame } from "../malformed-frame.ts";
import type { FrameContent } from "../protocol-definition.ts";
import { isAnswer, readAnswers, startsWithSerial } from "./answers.ts";
import { IwFrame, type IwSession, prefixOf } from "./fields.ts";
import { hasStart, lastStartWithin, readParts } from "./framing.ts";
import { readLogin } from "./identity.ts";
import { mediaReply, readMedia, readMediaHeader } from "./media.ts";
import { otherReport, replyTo, reports } from "./reports.ts";

/** A frame of a device that has not said who it is: the connection closes on it, so nothing in it matters. */
const noLogin: FrameContent = { messages: [{ kind: "heartbeat" }], replies: [] };

export function readFrame(raw: Buffer, session: IwSession): FrameContent {
  const parts = readParts(raw);
  if (parts.kind === "media") {
    const media = readMediaHeader(parts.header, parts.data);
    const messages = readMedia(media, session);
    if (!session.device) return noLogin;
    return { messages, replies: [mediaReply(media, true)], refusals: [mediaReply(media, false)] };
  }
  try {
    return readTextFrame(frameOf(parts.prefix, parts.text), session);
  } catch (error) {
    if (!(error instanceof MalformedFrame)) throw error;
    throw new MalformedFrame(error.reason, lastStartWithin(raw, 0, raw.length));
  }
}

function frameOf(prefix: string, text: string): IwFrame {
  const code = text.slice(0, 4);
  if (!/^[ACY]P[0-9A-Z]{2}$/.test(code)) throw new MalformedFrame("unknown code");
  return new IwFrame(prefix, code, text.slice(text[4] === "," ? 5 : 4));
}

function readTextFrame(frame: IwFrame, session: IwSession): FrameContent {
  if (frame.code === "AP00") {
    const messages = readLogin(frame);
    // Most watches have the usual one, and need no note of it.
    if (frame.prefix !== prefixOf(session)) session.memory.set("iw.prefix", frame.prefix);
    // The answer needs the device's zone: the connection asks for the downlink "clock" once it knows the device.
    return { messages, replies: [] };
  }
  const content = readReport(frame, session);
  return session.device ? content : noLogin;
}

function readReport(frame: IwFrame, session: IwSession): FrameContent {
  const known = reports.get(frame.code);
  if (!known?.hasNames && hasStart(frame.code + frame.body)) throw new MalformedFrame("another frame inside");
  if (isAnswer(frame, session) || (!known && startsWithSerial(frame))) {
    return { messages: readAnswers(frame), replies: [] };
  }
  if (frame.code === "AP07" || frame.code === "AP42") throw new MalformedFrame("media without data");
  const report = known ?? otherReport;
  return { messages: report.read(frame, session), replies: replyTo(frame, report) };
}
