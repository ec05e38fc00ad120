import { crc16Arc } from "../codecs/wire/crc16.ts";
import type {
  AlarmKind,
  Command,
  DeviceProtocol,
  Effect,
  FleetTransport,
  Identity,
  Packet,
  ServerMessage,
  Snapshot,
} from "./device-protocol.ts";

/** A personal tracker that sends single records in codec 8 Extended. */
export function makeTeltonikaDevice(transport: FleetTransport): DeviceProtocol {
  return transport === "udp" ? makeDatagramDevice() : makeStreamDevice();
}

/** Every datagram of records names the tracker and has a number. */
function makeDatagramDevice(): DeviceProtocol {
  let packetId = 0;
  const packet = ({ imei }: Identity, now: Snapshot, alarmId?: number): Packet => {
    packetId = (packetId + 1) % 0x10000;
    const head = [u16(packetId), Buffer.of(1, packetId & 0xff), u16(imei.length), Buffer.from(imei)];
    const body = Buffer.concat([...head, record(now, alarmId)]);
    return { bytes: Buffer.concat([u16(body.length), body]), answer: datagramAnswer(packetId & 0xff, 1) };
  };
  return {
    login: (self, now) => packet(self, now),
    heartbeat: (self, now) => packet(self, now),
    location: (self, now) => packet(self, now),
    alarm: (self, now, alarm) => packet(self, now, alarmIds[alarm]),
    readings: () => [],
    voice: () => [],
    ecg: () => [],
    read: (_, bytes) => readDatagrams(bytes),
  };
}

const datagramAnswer = (dataId: number, count: number): string => `${dataId}/${count}`;

/** Answers have length, packet number, kind, number of the data and number of records; commands are as on a connection. */
function readDatagrams(bytes: Buffer): { messages: ServerMessage[]; rest: Buffer } {
  const messages: ServerMessage[] = [];
  let at = 0;
  for (; bytes.length - at >= 7 && bytes.readUInt16BE(at) === 5; at += 7) {
    const answer = datagramAnswer(bytes[at + 5] as number, bytes[at + 6] as number);
    messages.push({ kind: "answer", answer, isRefusal: false });
  }
  const commanded = read(bytes.subarray(at));
  return { messages: [...messages, ...commanded.messages], rest: commanded.rest };
}

function makeStreamDevice(): DeviceProtocol {
  const packet = (now: Snapshot, alarmId?: number): Packet => ({ bytes: frame(record(now, alarmId)), answer: "1" });
  return {
    login: ({ imei }: Identity) => ({ bytes: Buffer.concat([u16(imei.length), Buffer.from(imei)]), answer: "login" }),
    heartbeat: () => ({ bytes: Buffer.of(0xff), answer: null }),
    location: (_, now) => packet(now),
    alarm: (_, now, alarm) => packet(now, alarmIds[alarm]),
    readings: () => [],
    voice: () => [],
    ecg: () => [],
    read: (_, bytes) => read(bytes),
  };
}

/** A low battery is reported by its level alone. */
const alarmIds: Record<AlarmKind, number | undefined> = { sos: 236, fall: 242, low_battery: undefined };
const [lowPriority, panicPriority] = [0, 2];

const u16 = (value: number): Buffer => Buffer.of((value >> 8) & 0xff, value & 0xff);

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

function i32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function record({ atMs, seen, life }: Snapshot, alarmId: number | undefined): Buffer {
  const { gps, cells } = seen;
  const [cell] = cells;
  const operator = Number(`${seen.mcc}${String(seen.mnc).padStart(2, "0")}`);
  const small: [id: number, value: number][] = [
    [21, 1 + Math.round((seen.gsmPercent * 4) / 100)],
    [113, life.battery],
    [240, (gps?.speedKmh ?? 0) > 1 ? 1 : 0],
    ...(alarmId === undefined ? [] : ([[alarmId, 1]] as [number, number][])),
  ];
  const middle: [number, number][] = cell ? [[206, cell.lac]] : [];
  const wide: [number, number][] = cell
    ? [
        [241, operator],
        [636, cell.cid],
      ]
    : [[241, operator]];
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(atMs));
  const values = Buffer.concat([
    u16(small.length + middle.length + wide.length),
    group(small, (value) => Buffer.of(value)),
    group(middle, u16),
    group(wide, u32),
    u16(0),
    u16(0),
  ]);
  return Buffer.concat([
    Buffer.of(0x8e, 1),
    time,
    Buffer.of(alarmId === undefined ? lowPriority : panicPriority),
    i32(Math.round((gps?.lng ?? 0) * 1e7)),
    i32(Math.round((gps?.lat ?? 0) * 1e7)),
    u16(gps?.altitudeM ?? 0),
    u16(gps?.heading ?? 0),
    Buffer.of(gps?.satellites ?? 0),
    u16(Math.round(gps?.speedKmh ?? 0)),
    u16(alarmId ?? 0),
    values,
    Buffer.of(1),
  ]);
}

const group = (values: readonly (readonly [number, number])[], write: (value: number) => Buffer): Buffer =>
  Buffer.concat([u16(values.length), ...values.flatMap(([id, value]) => [u16(id), write(value)])]);

const frame = (content: Buffer): Buffer =>
  Buffer.concat([u32(0), u32(content.length), content, u32(crc16Arc(content))]);

/** One byte answers the login, four bytes count stored records, four zero bytes begin a command. */
function read(bytes: Buffer): { messages: ServerMessage[]; rest: Buffer } {
  const messages: ServerMessage[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (bytes[at] === 1) {
      messages.push({ kind: "answer", answer: "login", isRefusal: false });
      at++;
      continue;
    }
    if (bytes.length - at < 4) break;
    const count = bytes.readUInt32BE(at);
    if (count > 0) {
      messages.push(count < 256 ? { kind: "answer", answer: String(count), isRefusal: false } : { kind: "unreadable" });
      at += 4;
      continue;
    }
    if (bytes.length - at < 8) break;
    const end = at + 12 + bytes.readUInt32BE(at + 4);
    if (end > bytes.length) break;
    messages.push(understand(bytes.subarray(at + 8, end)));
    at = end;
  }
  return { messages, rest: bytes.subarray(at) };
}

const [order, reply] = [5, 6];

function understand(bytes: Buffer): ServerMessage {
  const content = bytes.subarray(0, -4);
  const isWhole = content.length >= 8 && bytes.readUInt32BE(content.length) === crc16Arc(content);
  if (!isWhole || content[0] !== 0x0c || content[2] !== order) return { kind: "unreadable" };
  const text = content.toString("latin1", 7, 7 + content.readUInt32BE(3)).trim();
  return command(text);
}

function command(text: string): Command {
  const [effect, answer] = commands[text] ?? [undefined, "Unknown command or invalid format"];
  return {
    kind: "command",
    word: text,
    values: [],
    acks: answer === undefined ? [] : [textFrame(answer)],
    refusals: [textFrame("ERROR")],
    effect,
  };
}

/** What a tracker does, and what it says to it; it restarts without an answer. */
const commands: Readonly<Record<string, readonly [Effect, string | undefined]>> = {
  getrecord: [{ kind: "locate" }, "New data record triggered!"],
  cpureset: [{ kind: "restart" }, undefined],
};

const textFrame = (text: string): Buffer =>
  frame(Buffer.concat([Buffer.of(0x0c, 1, reply), u32(text.length), Buffer.from(text, "latin1"), Buffer.of(1)]));
