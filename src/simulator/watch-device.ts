import { readUtf16Hex } from "../codecs/wire/utf16-text.ts";
import {
  type AlarmKind,
  type Command,
  type DeviceProtocol,
  type Effect,
  type Identity,
  type Measurement,
  type Packet,
  type ServerMessage,
  type Snapshot,
  utcParts,
} from "./device-protocol.ts";

const maker = "3G";
const maxFrameBytes = 70_000;

export function makeWatchDevice(): DeviceProtocol {
  const alive = (self: Identity, { life }: Snapshot): Packet =>
    packet(self, `LK,${life.steps},0,${life.battery}`, "LK");
  return {
    login: alive,
    heartbeat: alive,
    location: (self, now, isStored) => packet(self, `${isStored ? "UD2" : "UD"},${position(now, 0)}`, null),
    alarm: (self, now, alarm) => packet(self, `AL,${position(now, 1 << alarmBits[alarm])}`, "AL"),
    readings: (self, now, what) => readings(now, what).map((content) => packet(self, content, null)),
    voice: (self, _, amr) => [packet(self, Buffer.concat([Buffer.from("TK,"), escaped(amr)]), "TK")],
    ecg: () => [],
    read,
  };
}

const alarmBits: Record<AlarmKind, number> = { sos: 16, low_battery: 17, fall: 21 };

function packet(self: Identity, content: string | Buffer, answer: string | null): Packet {
  const body = typeof content === "string" ? Buffer.from(content, "latin1") : content;
  const length = body.length.toString(16).toUpperCase().padStart(4, "0");
  return { bytes: Buffer.concat([Buffer.from(`[${maker}*${self.id}*${length}*`), body, Buffer.from("]")]), answer };
}

/** The first of the pair is what is sent after 7D, the second what is meant. */
const escapes: ReadonlyMap<number, number> = new Map([
  [0x7d, 1],
  [0x5b, 2],
  [0x5d, 3],
  [0x2c, 4],
  [0x2a, 5],
]);

function escaped(bytes: Buffer): Buffer {
  const out: number[] = [];
  for (const byte of bytes) {
    const code = escapes.get(byte);
    if (code === undefined) out.push(byte);
    else out.push(0x7d, code);
  }
  return Buffer.from(out);
}

const meanings: ReadonlyMap<number, number> = new Map([...escapes].map(([byte, code]) => [code, byte]));

function unescaped(bytes: Buffer): Buffer {
  const out: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const meant = bytes[at] === 0x7d ? meanings.get(bytes[at + 1] ?? 0) : undefined;
    if (meant === undefined) out.push(bytes[at] as number);
    else {
      out.push(meant);
      at++;
    }
  }
  return Buffer.from(out);
}

/** From the date to the accuracy: what UD and AL share. */
function position({ atMs, seen, life }: Snapshot, alarm: number): string {
  const { year, month, day, clock } = utcParts(atMs);
  const { gps, cells, accessPoints } = seen;
  const status = (alarm | (life.battery <= 15 ? 1 : 0)) >>> 0;
  const place = gps
    ? [Math.abs(gps.lat).toFixed(6), gps.lat < 0 ? "S" : "N", Math.abs(gps.lng).toFixed(6), gps.lng < 0 ? "W" : "E"]
    : ["0.000000", "N", "0.000000", "E"];
  return [
    day + month + year.slice(2),
    clock,
    gps ? "A" : "V",
    ...place,
    (gps?.speedKmh ?? 0).toFixed(1),
    gps?.heading ?? 0,
    gps?.altitudeM ?? 0,
    gps?.satellites ?? 0,
    seen.gsmPercent,
    life.battery,
    life.steps,
    0,
    status.toString(16).toUpperCase().padStart(8, "0"),
    cells.length,
    0,
    seen.mcc,
    seen.mnc,
    ...cells.flatMap(({ lac, cid, signalDbm }) => [lac, cid, signalDbm]),
    accessPoints.length,
    ...accessPoints.flatMap(({ ssid, mac, signalDbm }) => [ssid, mac, signalDbm]),
    (gps?.accuracyM ?? 500).toFixed(1),
  ].join(",");
}

function readings({ life }: Snapshot, what: Measurement): string[] {
  const pressure = `bphrt,${life.systolic},${life.diastolic},${life.pulse},,,,`;
  const oxygen = `oxygen,0,${life.oxygen}`;
  const temperature = `btemp2,1,${life.temperature.toFixed(1)}`;
  switch (what) {
    case "pulse":
      return [`heart,${life.pulse}`];
    case "pressure":
      return [pressure];
    case "oxygen":
      return [oxygen];
    case "temperature":
      return [temperature];
    case "all":
      return [pressure, oxygen, temperature];
  }
}

function read(self: Identity, bytes: Buffer): { messages: ServerMessage[]; rest: Buffer } {
  const messages: ServerMessage[] = [];
  let at = 0;
  for (;;) {
    const start = bytes.indexOf("[", at, "latin1");
    if (start === -1) return { messages, rest: bytes.subarray(bytes.length) };
    // Content has its brackets escaped, so the first one closes the frame.
    const end = bytes.indexOf("]", start, "latin1");
    if (end === -1) {
      const isTooLong = bytes.length - start > maxFrameBytes;
      if (isTooLong) messages.push({ kind: "unreadable" });
      return { messages, rest: bytes.subarray(isTooLong ? bytes.length : start) };
    }
    messages.push(understand(self, bytes.toString("latin1", start + 1, end)));
    at = end + 1;
  }
}

function understand(self: Identity, text: string): ServerMessage {
  const [, id, content] = /^..\*([^*]+)\*(?:[0-9A-Fa-f]{4}\*)?[0-9A-Fa-f]{4}\*(.*)$/s.exec(text) ?? [];
  if (content === undefined || id !== self.id) return { kind: "unreadable" };
  const comma = content.indexOf(",");
  const word = comma === -1 ? content : content.slice(0, comma);
  const values = comma === -1 ? [] : content.slice(comma + 1).split(",");
  if (word === "LK" || word === "AL") return { kind: "answer", answer: word, isRefusal: false };
  if (word === "TK" && (values[0] === "1" || values[0] === "0")) {
    return { kind: "answer", answer: "TK", isRefusal: values[0] === "0" };
  }
  if (word === "TK") return voiceFromServer(self, content.slice(comma + 1));
  const acks = [packet(self, word, null).bytes];
  return { kind: "command", word: word.toUpperCase(), values, acks, refusals: [], effect: effectOf(word, values) };
}

function voiceFromServer(self: Identity, content: string): Command {
  const bytes = unescaped(Buffer.from(content, "latin1"));
  return {
    kind: "command",
    word: "TK",
    values: [],
    acks: [packet(self, "TK,1", null).bytes],
    refusals: [packet(self, "TK,0", null).bytes],
    effect: { kind: "voice_part", transfer: "TK", total: 1, sequence: 1, bytes },
  };
}

function effectOf(word: string, values: readonly string[]): Effect | undefined {
  const number = Number(values[0] ?? Number.NaN);
  switch (word.toUpperCase()) {
    case "CR":
      return { kind: "track" };
    case "RG":
      return { kind: "locate" };
    case "UPLOAD":
      return number >= 1 ? { kind: "interval", seconds: number } : undefined;
    case "RESET":
      return { kind: "restart" };
    case "POWEROFF":
      return { kind: "power_off" };
    case "FACTORY":
      return { kind: "factory_reset" };
    case "MESSAGE":
      return { kind: "text", text: readUtf16Hex(values[0] ?? "") ?? "" };
    case "LZ":
      return { kind: "setting", name: "timezone", values };
    case "SOS":
      return { kind: "setting", name: "sos_numbers", values };
    case "PHB":
      return { kind: "setting", name: "contacts", values };
    case "PHB2":
      return { kind: "setting", name: "more_contacts", values };
    case "FALLDOWN":
      return { kind: "setting", name: "fall_detection", values };
    case "FIND":
      return { kind: "ring" };
    case "HRTSTART":
      // 1 is once, 0 is stop, and from 300 on it is a period in seconds.
      if (number === 1) return { kind: "measure", what: "pressure" };
      return number === 0 || number >= 300 ? { kind: "measure_every", what: "all", minutes: number / 60 } : undefined;
    case "HEALTHAUTOSET":
      return number >= 0 ? { kind: "measure_every", what: "all", minutes: number } : undefined;
    case "BODYTEMP2":
    case "BTEMP2":
      return { kind: "measure", what: "temperature" };
    case "OXYGEN":
      return { kind: "measure", what: "oxygen" };
    default:
      return undefined;
  }
}
