import { writeBcd } from "../codecs/wire/bcd.ts";
import { crc16X25 } from "../codecs/wire/crc16.ts";
import type {
  AlarmKind,
  Command,
  DeviceProtocol,
  Effect,
  Identity,
  Packet,
  ServerMessage,
  Snapshot,
} from "./device-protocol.ts";
import type { Sighting } from "./sighting.ts";

/** A pendant that speaks gt06: positions, cells and access points where it sees no sky, alarms, and texts for commands. */
export function makeGt06Device(): DeviceProtocol {
  return {
    login: (self, now) => packet(0x01, writeBcd(`0${self.imei}`, 8), now),
    heartbeat: (_, now) => packet(0x13, statusBlock(now, 0), now),
    location: (_, now, isStored) =>
      now.seen.gps ? packet(0x22, gpsReport(now, isStored), now) : packet(0x2c, networks(now), now),
    alarm: (_, now, alarm) => packet(0x26, alarmReport(now, alarmCodes[alarm]), now),
    readings: () => [],
    voice: () => [],
    ecg: () => [],
    read,
  };
}

const alarmCodes: Record<AlarmKind, number> = { sos: 0x01, low_battery: 0x19, fall: 0x23 };
const partsPerDegree = 1_800_000;
const english = 2;

/** Start, length, type, content, serial, checksum and stop; a long frame has two bytes for its length. */
function frameOf(type: number, content: Buffer, serial: number, isLong = false): Buffer {
  const length = content.length + 5;
  const body = Buffer.concat([
    Buffer.from(isLong ? [length >> 8, length & 0xff, type] : [length, type]),
    content,
    Buffer.from([serial >> 8, serial & 0xff]),
  ]);
  const sum = crc16X25(body);
  const start = Buffer.from(isLong ? "yy" : "xx");
  return Buffer.concat([start, body, Buffer.from([sum >> 8, sum & 0xff]), Buffer.from("\r\n")]);
}

function packet(type: number, content: Buffer, { atMs }: Snapshot): Packet {
  const serial = 1 + (Math.floor(atMs / 100) % 0xfffe);
  return { bytes: frameOf(type, content, serial), answer: answerName(type, serial) };
}

const answerName = (type: number, serial: number): string => `${type.toString(16)}/${serial}`;

function clock(atMs: number): Buffer {
  const at = new Date(atMs);
  const date = [at.getUTCFullYear() - 2000, at.getUTCMonth() + 1, at.getUTCDate()];
  return Buffer.from([...date, at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()]);
}

/** Time, satellites, place, speed and course. Without a fix the place is zero and the course says so. */
function gpsBlock({ atMs, seen: { gps } }: Snapshot): Buffer {
  const block = Buffer.alloc(18);
  clock(atMs).copy(block);
  block.writeUInt8(0xc0 | (gps?.satellites ?? 0), 6);
  if (gps === null) return block;
  block.writeUInt32BE(Math.round(Math.abs(gps.lat) * partsPerDegree), 7);
  block.writeUInt32BE(Math.round(Math.abs(gps.lng) * partsPerDegree), 11);
  block.writeUInt8(Math.min(255, Math.round(gps.speedKmh)), 15);
  block.writeUInt16BE(0x1000 | (gps.lat < 0 ? 0 : 0x0400) | (gps.lng < 0 ? 0x0800 : 0) | gps.heading, 16);
  return block;
}

/** Country, network, area and cell. */
function cellBlock({ mcc, mnc, cells: [cell] }: Sighting): Buffer {
  const block = Buffer.alloc(8);
  block.writeUInt16BE(mcc);
  block.writeUInt8(mnc, 2);
  block.writeUInt16BE(cell?.lac ?? 0, 3);
  block.writeUIntBE(cell?.cid ?? 0, 5, 3);
  return block;
}

/** Status, battery, signal, alarm and language. A battery of up to six would be read as steps of six. */
function statusBlock({ life, seen }: Snapshot, alarm: number): Buffer {
  const battery = life.battery > 6 ? life.battery : 0;
  return Buffer.from([life.isCharging ? 0x44 : 0x40, battery, Math.round(seen.gsmPercent / 25), alarm, english]);
}

const gpsReport = (now: Snapshot, isStored: boolean): Buffer =>
  Buffer.concat([gpsBlock(now), cellBlock(now.seen), Buffer.from([0, 0, isStored ? 1 : 0])]);

const alarmReport = (now: Snapshot, alarm: number): Buffer =>
  Buffer.concat([gpsBlock(now), Buffer.from([9]), cellBlock(now.seen), statusBlock(now, alarm)]);

const cellPlaces = 7;

/** Seven places for cells, the timing advance, and the access points. */
function networks({ atMs, seen }: Snapshot): Buffer {
  const head = Buffer.alloc(3);
  head.writeUInt16BE(seen.mcc);
  head.writeUInt8(seen.mnc, 2);
  const cells = Buffer.alloc(6 * cellPlaces);
  for (const [index, { lac, cid, signalDbm }] of seen.cells.slice(0, cellPlaces).entries()) {
    cells.writeUInt16BE(lac, 6 * index);
    cells.writeUIntBE(cid, 6 * index + 2, 3);
    cells.writeUInt8(-signalDbm, 6 * index + 5);
  }
  const points = seen.accessPoints.map(({ mac, signalDbm }) => Buffer.from([...macBytes(mac), -signalDbm]));
  return Buffer.concat([clock(atMs), head, cells, Buffer.from([0xff, points.length]), ...points]);
}

const macBytes = (mac: string): Buffer => Buffer.from(mac.replaceAll(":", ""), "hex");

function read(_: Identity, bytes: Buffer): { messages: ServerMessage[]; rest: Buffer } {
  const messages: ServerMessage[] = [];
  let at = 0;
  for (;;) {
    const start = bytes.indexOf("xx", at, "latin1");
    if (start === -1) return { messages, rest: bytes.subarray(bytes.length) };
    const end = start + 5 + (bytes[start + 2] ?? 255);
    if (end > bytes.length) return { messages, rest: bytes.subarray(start) };
    messages.push(understand(bytes.subarray(start, end)));
    at = end;
  }
}

function understand(frame: Buffer): ServerMessage {
  const type = frame.readUInt8(3);
  const content = frame.subarray(4, -6);
  const serial = frame.readUInt16BE(frame.length - 6);
  const isWhole = frameOf(type, content, serial).equals(frame);
  if (!isWhole || (type === 0x80 && content.length < 5)) return { kind: "unreadable" };
  if (type === 0x80) return commandOf(content, serial);
  return { kind: "answer", answer: answerName(type, serial), isRefusal: false };
}

function commandOf(content: Buffer, serial: number): Command {
  const flag = content.subarray(1, 5);
  const text = content.toString("latin1", 5, 1 + content.readUInt8(0));
  const [word = "", ...values] = text.replace(/#$/, "").split(",");
  const effect = effectOf(word, values);
  const answer = (said: string): Buffer[] => [
    frameOf(0x21, Buffer.concat([flag, Buffer.from([1]), Buffer.from(said)]), serial, true),
  ];
  return {
    kind: "command",
    word: word.toUpperCase(),
    values,
    acks: answer(effect ? "OK!" : "Command error!"),
    refusals: answer("Error!"),
    effect,
  };
}

function effectOf(word: string, values: readonly string[]): Effect | undefined {
  const seconds = Number(values[0] ?? Number.NaN);
  switch (word) {
    case "WHERE":
      return { kind: "locate" };
    case "TIMER":
      return seconds >= 5 ? { kind: "interval", seconds } : undefined;
    case "GMT":
      return { kind: "setting", name: "timezone", values };
    case "RESET":
      return { kind: "restart" };
    case "FACTORY":
      return { kind: "factory_reset" };
    default:
      return undefined;
  }
}
