import { MalformedFrame } from "../malformed-frame.ts";
import type { FrameContent, Session, SessionMemory } from "../protocol-definition.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { readBcd } from "../wire/bcd.ts";
import { repliesTo } from "./answers.ts";
import { type Frame, openFrame } from "./framing.ts";
import { readerOf } from "./kinds.ts";
import { readCountedNetworks } from "./networks.ts";
import { Report } from "./report.ts";
import { readLongString, readShortString } from "./strings.ts";
import type { Gt06Traits } from "./traits.ts";

const LOGIN = 0x01;
const zoneKey = "zone";
const alarmKey = "alarm";

export function readFrame(raw: Buffer, session: Session<Gt06Traits>): FrameContent {
  const frame = openFrame(raw);
  if (frame.type === LOGIN && !frame.isLong) return readLogin(frame, session);
  if (session.device === undefined) throw new MalformedFrame("frame before the login");
  return { messages: readMessages(frame, session, session.device), replies: repliesTo(frame, session.nowMs) };
}

/** Of a login the checksum must be right: a wrong digit would be another device. */
function readLogin(frame: Frame, session: Session<Gt06Traits>): FrameContent {
  const { content } = frame;
  const digits = content.length >= 8 ? readBcd(content.subarray(0, 8)) : undefined;
  if (!frame.hasRightChecksum) throw new MalformedFrame("login with a wrong checksum");
  if (digits === undefined || !digits.startsWith("0")) throw new MalformedFrame("login without an IMEI");
  const id = digits.slice(1);
  if (session.device && session.device.imei !== id) throw new MalformedFrame("another id on this connection");
  session.memory.set(zoneKey, String(content.length >= 12 ? zoneOf(content.readUInt16BE(10)) : 0));
  const message: TrackerMessage = session.device ? { kind: "heartbeat" } : { kind: "login", id };
  return { messages: [message], replies: repliesTo(frame, session.nowMs) };
}

/** Hours and minutes as decimal digits from bit 4 on; bit 3 is west. */
function zoneOf(bits: number): number {
  const digits = bits >> 4;
  const minutes = Math.floor(digits / 100) * 60 + (digits % 100);
  return minutes > 14 * 60 ? 0 : minutes * (bits & 8 ? -1 : 1) + 0;
}

function readMessages(
  frame: Frame,
  session: Session<Gt06Traits>,
  device: NonNullable<Session<Gt06Traits>["device"]>,
): TrackerMessage[] {
  const { type, isLong, content, serial, hasRightChecksum } = frame;
  if (type === 0x15 && !isLong && serial !== undefined) return readShortString(content, device);
  if (type === 0x21 && serial !== undefined) return readLongString(content, device);
  const reader = readerOf(frame, device.traits.status_layout === "voltage");
  if (reader === undefined) {
    if (!hasRightChecksum && content.length > 0) throw new MalformedFrame("unknown frame with a wrong checksum");
    return [{ kind: "heartbeat" }];
  }
  const report = new Report();
  const zone = Number(session.memory.get(zoneKey) ?? 0);
  let info: TrackerMessage | undefined;
  try {
    if (reader.kind === "counted_networks") readCountedNetworks(frame, report);
    else info = reader.read(content, report, zone) ?? undefined;
  } catch (error) {
    // An unknown variant of a known kind: what was read of it counts. Without an answer the unit would repeat it forever.
    if (!(error instanceof MalformedFrame) || !hasRightChecksum) throw error;
  }
  if (reader.kind === "state") keepChange(report, session.memory);
  const messages = report.messages();
  if (info === undefined) return messages;
  return messages[0]?.kind === "heartbeat" ? [info] : [...messages, info];
}

/** A state is repeated with every heartbeat: its alarm is one when it begins. */
function keepChange(report: Report, memory: SessionMemory): void {
  const code = report.alarm?.code ?? "";
  if (memory.get(alarmKey) === code) report.alarm = undefined;
  memory.set(alarmKey, code);
}
