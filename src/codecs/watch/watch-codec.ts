import type { AwaitedAnswer, Codec, DecodedFrame, DecodeProblem, Session, SessionDevice } from "../codec.ts";
import { readContent } from "./content.ts";
import { encodeDownlink } from "./downlink.ts";
import { type Frame, readHeader, writeFrame } from "./frame.ts";
import { longestFrame, nextPiece, startsFrame } from "./frame-scanner.ts";
import { readUplink } from "./uplink.ts";

/** The protocol of SeTracker and Beesure watches: `[3G*1234567890*0002*LK]`. */
export function watchCodec(): Codec {
  return {
    protocol: "watch",
    longestFrameBytes: longestFrame,
    recognizes: (start) => startsFrame(start, 0),
    decode,
    encode: encodeDownlink,
    answerTo,
  };
}

function decode(bytes: Buffer, session: Session) {
  const frames: DecodedFrame[] = [];
  const problems: DecodeProblem[] = [];
  let at = 0;
  for (let piece = nextPiece(bytes, at); piece !== undefined; piece = nextPiece(bytes, at)) {
    const { start } = piece;
    if (piece.kind === "tail") return { frames, problems, rest: bytes.subarray(start) };
    at = piece.end;
    if (piece.kind === "stray") {
      problems.push({ reason: "bytes outside a frame", offset: start, isFrame: false });
      continue;
    }
    if (piece.kind === "broken") {
      problems.push({ reason: piece.reason, offset: start, isFrame: true });
      continue;
    }
    const raw = bytes.subarray(start, piece.end);
    const frame = readFrame(raw);
    if (frame !== undefined && session.device === undefined) {
      remember(session, frame);
      frames.push({ messages: [{ kind: "login", id: frame.id }], replies: [], raw });
      // Every frame carries the id: this one is read again for what else it says once the login is accepted.
      return { frames, problems, rest: bytes.subarray(start) };
    }
    const decoded = frame && session.device ? decodeFrame(frame, raw, session.device) : "frame that cannot be read";
    if (typeof decoded === "string") {
      problems.push({ reason: decoded, offset: start, isFrame: true });
    } else if (frame) {
      remember(session, frame);
      frames.push(decoded);
    }
  }
  return { frames, problems, rest: Buffer.alloc(0) };
}

function readFrame(raw: Buffer): Frame | undefined {
  const header = readHeader(raw, 0, raw.length);
  if (header === undefined) return undefined;
  const { maker, id, index, size } = header;
  return { maker, id, index, content: raw.subarray(size, -1) };
}

/** The device repeats the word. */
function answerTo(bytes: Buffer): AwaitedAnswer | undefined {
  const frame = readFrame(bytes);
  const word = frame && readContent(frame.content)?.word;
  return word === undefined ? undefined : { word: word.toUpperCase() };
}

/** Downlinks begin like the frames of the device. */
function remember(session: Session, { maker, index }: Frame): void {
  session.memory.set("maker", maker);
  if (index !== undefined) session.memory.set("index", index);
}

/** The decoded frame, or what is wrong with it. */
function decodeFrame(frame: Frame, raw: Buffer, device: SessionDevice): DecodedFrame | string {
  if (frame.id !== device.id) return "another id on this connection";
  const content = readContent(frame.content);
  if (content === undefined) return "content that cannot be read";
  const uplink = readUplink(content, device);
  if ("problem" in uplink) return uplink.problem;
  const { messages, answer } = uplink;
  const replies = answer === undefined ? [] : [writeFrame({ ...frame, content: Buffer.from(answer, "latin1") })];
  return { messages, replies, raw };
}
