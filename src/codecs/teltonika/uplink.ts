import { MalformedFrame } from "../malformed-frame.ts";
import type { FrameContent, FrameReport, Session } from "../protocol-definition.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { crc16Arc } from "../wire/crc16.ts";
import { acceptance, countAnswer, datagramAnswer } from "./answers.ts";
import { formAt, imeiDigits, KEEP_ALIVE } from "./framing.ts";
import { readRecords, recordCodecs } from "./records.ts";
import { readTexts, textCodecs } from "./texts.ts";

export function readFrame(raw: Buffer, session: Session): FrameContent {
  if (raw[0] === KEEP_ALIVE) return { messages: [{ kind: "heartbeat" }], replies: [] };
  const form = formAt(raw, 0);
  if (form === "login") {
    return { messages: [{ kind: "login", id: raw.toString("latin1", 2) }], replies: [acceptance] };
  }
  if (form === "datagram") return readDatagram(raw, session);
  if (session.device === undefined) throw new MalformedFrame("data before the login");
  return readData(raw);
}

function readData(raw: Buffer): FrameContent {
  const content = raw.subarray(8, -4);
  // Without an answer the device sends it again.
  if (raw.readUInt32BE(raw.length - 4) !== crc16Arc(content)) throw new MalformedFrame("wrong checksum");
  const codec = content[0] as number;
  if (textCodecs.has(codec)) return { messages: readTexts(content), replies: [] };
  const reports = readReports(content, codec);
  return { ...contentOf(reports), replies: [countAnswer(reports.length)] };
}

/** Packet number, kind, number of the data, IMEI, data. */
function readDatagram(raw: Buffer, { device }: Session): FrameContent {
  const reader = new ByteReader(raw);
  reader.skip(2);
  const packetId = Buffer.from(reader.bytes(2));
  reader.skip(1);
  const dataId = reader.u8();
  reader.skip(2);
  const id = reader.text(imeiDigits);
  if (device === undefined) return { messages: [{ kind: "login", id }], replies: [], isReadAgain: true };
  if (id !== device.id) throw new MalformedFrame("another IMEI on this connection");
  const content = reader.rest();
  const reports = readReports(content, content[0] as number);
  return { ...contentOf(reports), replies: [datagramAnswer(packetId, dataId, reports.length)] };
}

function readReports(content: Buffer, codec: number): FrameReport[] {
  if (!recordCodecs.has(codec)) throw new MalformedFrame("codec that is not known");
  return readRecords(content);
}

function contentOf(reports: FrameReport[]): Pick<FrameContent, "messages" | "reports"> {
  const messages = reports.flatMap((report) => report.messages);
  return messages.length > 0 ? { messages, reports } : { messages: [{ kind: "heartbeat" }] };
}
