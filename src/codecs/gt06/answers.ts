import { type Frame, writeFrame } from "./framing.ts";

/** What the server says to a frame, once it is stored. */

const nothing = Buffer.alloc(0);
/** Texts and the echoes of commands: an answer to them would be taken for a command. */
const unanswered = new Set([0x15, 0x21, 0x80, 0x81, 0x82]);
const answeredLong = new Set([0x2a, 0x32, 0x33, 0x41, 0x70, 0x8a, 0x8c, 0x94, 0x9b, 0xf2, 0xfd]);
/** Long frames that want a long answer. */
const longAnswers = new Set([0x32, 0x33, 0x41]);

export function repliesTo(frame: Frame, nowMs: number): Buffer[] {
  const { type, isLong, serial, content } = frame;
  if (unanswered.has(type) || (isLong && !answeredLong.has(type))) return [];
  if (serial === undefined) return repliesWithoutSerial(type, content);
  if (type === 0x8a) return [writeFrame(type, clockBytes(nowMs), serial)];
  if (type === 0x2a) return [writeFrame(0x97, noAddress(), serial, true)];
  return [writeFrame(type, nothing, serial, isLong && longAnswers.has(type))];
}

/** Units without serial and checksum want the time of their frame back, or their frame if it has none. */
function repliesWithoutSerial(type: number, content: Buffer): Buffer[] {
  if (content.length === 0) return [Buffer.from([0x78, 0x78, 1, type, 0x0d, 0x0a])];
  const time = content.subarray(0, 6);
  if (type === 0x13 || time.length < 6) return [writeFrame(type, nothing, 0)];
  return [Buffer.concat([Buffer.from([0x78, 0x78, 0, type]), time, Buffer.from("\r\n")])];
}

/** UTC. */
function clockBytes(nowMs: number): Buffer {
  const now = new Date(nowMs);
  const date = [now.getUTCFullYear() - 2000, now.getUTCMonth() + 1, now.getUTCDate()];
  return Buffer.from([...date, now.getUTCHours(), now.getUTCMinutes(), now.getUTCSeconds()]);
}

/** Somebody asked the unit for an address by SMS; there is none to give. */
function noAddress(): Buffer {
  const text = Buffer.from("NA&&NA&&0##");
  return Buffer.concat([Buffer.from([text.length, 0, 0, 0, 0]), text]);
}
