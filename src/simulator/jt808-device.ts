import { writeBcd } from "../codecs/wire/bcd.ts";
import { xor8 } from "../codecs/wire/checksums.ts";
import {
  type AlarmKind,
  type Command,
  type DeviceProtocol,
  type Effect,
  type Identity,
  type Packet,
  type ServerMessage,
  type Snapshot,
  utcParts,
} from "./device-protocol.ts";

/** Clocks of terminals run in GMT+8, whatever the country. */
const clockOffsetMs = 8 * 3_600_000;
const maxPartBytes = 900;
const [noFlags, isBuffered] = [0, 1];

/** A terminal of the 2013 form. It registers once, and afterwards shows the code that it got. */
export function makeJt808Device(): DeviceProtocol {
  /** What the terminals have in their memory; a restart does not cost it. */
  const codes = new Map<string, string>();
  let serial = 0;
  const nextSerial = (): number => {
    serial = (serial + 1) % 0x10000;
    return serial;
  };
  const packet = (self: Identity, messageId: number, body: Buffer, answerId = "8001"): Packet => {
    const own = nextSerial();
    return { bytes: frame(self, messageId, own, body), answer: `${answerId}/${own}` };
  };
  const report = (self: Identity, now: Snapshot, alarmWord: number): Packet =>
    packet(self, 0x0200, location(now, alarmWord));
  return {
    login: (self) => {
      const code = codes.get(self.id);
      if (code !== undefined) return packet(self, 0x0102, Buffer.from(code, "latin1"));
      const maker = Buffer.from("VIGILSIM".padEnd(25, "\0") + self.id.slice(-7), "latin1");
      return packet(self, 0x0100, Buffer.concat([Buffer.alloc(4), maker, Buffer.of(0)]), "8100");
    },
    heartbeat: (self) => packet(self, 0x0002, Buffer.alloc(0)),
    location: (self, now, isStored) => {
      if (!isStored) return report(self, now, noFlags);
      const body = location(now, noFlags);
      return packet(self, 0x0704, Buffer.concat([u16(1), Buffer.of(isBuffered), u16(body.length), body]));
    },
    alarm: (self, now, alarm) => report(self, now, 1 << alarmBits[alarm]),
    readings: () => [],
    voice: (self, now, amr) => [recording(self, now, amr, nextSerial)],
    ecg: () => [],
    read: (self, bytes) => read(self, bytes, codes, nextSerial),
  };
}

/** There is no bit for a fall: terminals tell it as a collision. */
const alarmBits: Record<AlarmKind, number> = { sos: 0, low_battery: 7, fall: 29 };

const u16 = (value: number): Buffer => Buffer.of((value >> 8) & 0xff, value & 0xff);

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

function frame(
  self: Identity,
  messageId: number,
  serial: number,
  body: Buffer,
  part?: { total: number; index: number },
) {
  const attributes = body.length | (part ? 0x2000 : 0);
  const split = part ? [u16(part.total), u16(part.index)] : [];
  const content = Buffer.concat([u16(messageId), u16(attributes), writeBcd(self.id, 6), u16(serial), ...split, body]);
  const bytes: number[] = [];
  for (const byte of [...content, xor8(content)]) {
    if (byte === 0x7d || byte === 0x7e) bytes.push(0x7d, byte - 0x7c);
    else bytes.push(byte);
  }
  return Buffer.from([0x7e, ...bytes, 0x7e]);
}

/** Alarm, status, place, time; then signal, satellites, battery, steps, cells and Wi-Fi. */
function location({ atMs, seen, life }: Snapshot, alarmWord: number): Buffer {
  const { gps, cells, accessPoints } = seen;
  const status = (gps ? 2 : 0) | ((gps?.lat ?? 0) < 0 ? 4 : 0) | ((gps?.lng ?? 0) < 0 ? 8 : 0);
  const signal = Math.round((seen.gsmPercent * 31) / 100);
  const cellBytes = cells.flatMap(({ lac, cid, signalDbm }) => [
    Buffer.of(0),
    u16(lac),
    u32(cid),
    Buffer.of(signalDbm & 0xff),
  ]);
  const wifiBytes = accessPoints.flatMap(({ mac, signalDbm }) => [
    Buffer.from(mac.replaceAll(":", ""), "hex"),
    Buffer.of(signalDbm & 0xff),
  ]);
  return Buffer.concat([
    u32(alarmWord),
    u32(status),
    u32(Math.round(Math.abs(gps?.lat ?? 0) * 1e6)),
    u32(Math.round(Math.abs(gps?.lng ?? 0) * 1e6)),
    u16(gps?.altitudeM ?? 0),
    u16(Math.round((gps?.speedKmh ?? 0) * 10)),
    u16(gps?.heading ?? 0),
    time(atMs),
    item(0x30, Buffer.of(signal)),
    item(0x31, Buffer.of(gps?.satellites ?? 0)),
    item(0xe4, Buffer.of(0, life.battery)),
    item(0xf8, u16(life.steps)),
    item(0xe1, Buffer.concat([u16(seen.mcc), u16(seen.mnc), ...cellBytes])),
    ...(wifiBytes.length > 0 ? [item(0xec, Buffer.concat(wifiBytes))] : []),
  ]);
}

const item = (id: number, value: Buffer): Buffer => Buffer.concat([Buffer.of(id, value.length), value]);

function time(atMs: number): Buffer {
  const { year, month, day, clock } = utcParts(atMs + clockOffsetMs);
  return writeBcd(year.slice(2) + month + day + clock, 6);
}

/** An upload of media: what is too long for one message goes in parts, and the last one is answered for all. */
function recording(self: Identity, now: Snapshot, amr: Buffer, nextSerial: () => number): Packet {
  const mediaId = Math.floor(now.atMs / 1000) >>> 0;
  const head = [u32(mediaId), Buffer.of(1, 0, 0, 0), location(now, noFlags).subarray(0, 28)];
  const body = Buffer.concat([...head, amr]);
  const total = Math.ceil(body.length / maxPartBytes);
  const frames = Array.from({ length: total }, (_, index) => {
    const piece = body.subarray(index * maxPartBytes, (index + 1) * maxPartBytes);
    return frame(self, 0x0801, nextSerial(), piece, total > 1 ? { total, index: index + 1 } : undefined);
  });
  return { bytes: Buffer.concat(frames), answer: `8800/${mediaId}` };
}

function read(self: Identity, bytes: Buffer, codes: Map<string, string>, nextSerial: () => number) {
  const messages: ServerMessage[] = [];
  let at = 0;
  for (;;) {
    const start = bytes.indexOf(0x7e, at);
    const end = start === -1 ? -1 : bytes.indexOf(0x7e, start + 1);
    if (end === -1) return { messages, rest: bytes.subarray(start === -1 ? bytes.length : start) };
    messages.push(understand(self, unescaped(bytes.subarray(start + 1, end)), codes, nextSerial));
    at = end + 1;
  }
}

function unescaped(bytes: Buffer): Buffer {
  const out: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const isEscape = bytes[at] === 0x7d;
    out.push(isEscape ? 0x7c + (bytes[++at] ?? 0) : (bytes[at] as number));
  }
  return Buffer.from(out);
}

function understand(
  self: Identity,
  content: Buffer,
  codes: Map<string, string>,
  nextSerial: () => number,
): ServerMessage {
  if (content.length < 13 || xor8(content) !== 0 || !content.subarray(4, 10).equals(writeBcd(self.id, 6))) {
    return { kind: "unreadable" };
  }
  const [messageId, serial, body] = [content.readUInt16BE(0), content.readUInt16BE(10), content.subarray(12, -1)];
  switch (messageId) {
    case 0x8001: {
      const isRefusal = body[4] !== 0;
      // A code that is refused is of no use any more: the next connection registers.
      if (isRefusal && body.readUInt16BE(2) === 0x0102) codes.delete(self.id);
      return { kind: "answer", answer: `8001/${body.readUInt16BE(0)}`, isRefusal };
    }
    case 0x8100:
      if (body[2] === 0) codes.set(self.id, body.toString("latin1", 3));
      return { kind: "answer", answer: `8100/${body.readUInt16BE(0)}`, isRefusal: body[2] !== 0 };
    case 0x8800:
      return { kind: "answer", answer: `8800/${body.readUInt32BE(0)}`, isRefusal: false };
    default:
      return command(self, messageId, serial, body, nextSerial);
  }
}

const [succeeded, failed, unsupported] = [0, 1, 3];

function command(self: Identity, messageId: number, serial: number, body: Buffer, nextSerial: () => number): Command {
  const effect = effectOf(messageId, body);
  const answer = (result: number): Buffer =>
    frame(self, 0x0001, nextSerial(), Buffer.concat([u16(serial), u16(messageId), Buffer.of(result)]));
  return {
    kind: "command",
    word: messageId.toString(16),
    values: [body.toString("hex")],
    acks: [answer(effect === undefined ? unsupported : succeeded)],
    refusals: [answer(failed)],
    effect,
  };
}

function effectOf(messageId: number, body: Buffer): Effect | undefined {
  switch (messageId) {
    case 0x8103:
      return intervalOf(body);
    case 0x8105:
      return ({ 3: { kind: "power_off" }, 4: { kind: "restart" }, 5: { kind: "factory_reset" } } as const)[
        body[0] ?? 0
      ];
    case 0x8201:
      return { kind: "locate" };
    case 0x8300:
      return { kind: "text", text: new TextDecoder("gbk").decode(body.subarray(1)) };
    default:
      return undefined;
  }
}

const reportInterval = 0x0029;

/** Parameters with their numbers and lengths; of them the interval of reports matters here. */
function intervalOf(body: Buffer): Effect | undefined {
  for (let at = 1; at + 5 <= body.length; at += 5 + (body[at + 4] ?? 0)) {
    if (body.readUInt32BE(at) === reportInterval) return { kind: "interval", seconds: body.readUInt32BE(at + 5) };
  }
  return undefined;
}
