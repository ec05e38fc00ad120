import {
  type Command,
  type DeviceProtocol,
  type Effect,
  type Identity,
  type Packet,
  type ServerMessage,
  type Snapshot,
  utcParts,
} from "./device-protocol.ts";

/** A small tracker that speaks h02 in text: positions, cells where it sees no sky, and a state with steps. */
export function makeH02Device(): DeviceProtocol {
  const alive = (self: Identity, { life }: Snapshot): Packet => packet(self, "HTBT", [life.battery], "HTBT");
  return {
    login: alive,
    heartbeat: alive,
    location: (self, now) => report(self, now, quiet),
    // There is no bit for a fall, and the battery is reported by its number.
    alarm: (self, now, alarm) =>
      alarm === "low_battery" ? alive(self, now) : position(self, now, alarm === "sos" ? helpCall : quiet),
    readings: (self, now) => [state(self, now)],
    voice: () => [],
    ecg: () => [],
    read,
  };
}

const maker = "HQ";
/** Bits that are zero are alarms. */
const quiet = "FFFFFBFF";
const helpCall = "FFFFFBFD";
const knotsPerKmh = 1 / 1.852;
const maxFrameBytes = 1024;

type Field = string | number;

function packet(self: Identity, type: string, fields: readonly Field[], answer: string | null): Packet {
  return { bytes: Buffer.from(`*${[maker, self.id, type, ...fields].join(",")}#`), answer };
}

const report = (self: Identity, now: Snapshot, status: string): Packet =>
  now.seen.gps ? position(self, now, status) : neighbours(self, now, status);

const dateOf = ({ atMs }: Snapshot): string => {
  const { year, month, day } = utcParts(atMs);
  return day + month + year.slice(2);
};

function position(self: Identity, now: Snapshot, status: string): Packet {
  const { gps } = now.seen;
  const place = gps
    ? ["A", minutes(gps.lat, 2), gps.lat < 0 ? "S" : "N", minutes(gps.lng, 3), gps.lng < 0 ? "W" : "E"]
    : ["V", "0000.0000", "N", "00000.0000", "E"];
  const motion = [((gps?.speedKmh ?? 0) * knotsPerKmh).toFixed(2), String(gps?.heading ?? 0).padStart(3, "0")];
  return packet(self, "V1", [utcParts(now.atMs).clock, ...place, ...motion, dateOf(now), status], "V1");
}

/** Degrees with two or three digits, then minutes with four decimals. */
function minutes(degrees: number, digits: number): string {
  const parts = Math.round(Math.abs(degrees) * 600_000);
  const rest = String(parts % 600_000).padStart(6, "0");
  return `${String(Math.floor(parts / 600_000)).padStart(digits, "0")}${rest.slice(0, 2)}.${rest.slice(2)}`;
}

function neighbours(self: Identity, now: Snapshot, status: string): Packet {
  const { mcc, mnc, cells } = now.seen;
  const list = cells.flatMap(({ lac, cid, signalDbm }) => [lac, cid, signalDbm]);
  const fields = [utcParts(now.atMs).clock, mcc, mnc, 0, cells.length, ...list, dateOf(now), status];
  return packet(self, "NBR", fields, "NBR");
}

function state(self: Identity, now: Snapshot): Packet {
  const { life, seen } = now;
  const signal = Math.round((seen.gsmPercent * 31) / 100);
  const readings = [signal, seen.gps?.satellites ?? 0, life.battery, life.steps, 0];
  return packet(self, "LINK", [utcParts(now.atMs).clock, ...readings, dateOf(now), quiet], null);
}

function read(self: Identity, bytes: Buffer): { messages: ServerMessage[]; rest: Buffer } {
  const messages: ServerMessage[] = [];
  let at = 0;
  for (;;) {
    const start = bytes.indexOf("*", at, "latin1");
    if (start === -1) return { messages, rest: bytes.subarray(bytes.length) };
    const end = bytes.indexOf("#", start, "latin1");
    if (end === -1) {
      const isTooLong = bytes.length - start > maxFrameBytes;
      if (isTooLong) messages.push({ kind: "unreadable" });
      return { messages, rest: bytes.subarray(isTooLong ? bytes.length : start) };
    }
    messages.push(understand(self, bytes.toString("latin1", start + 1, end).split(",")));
    at = end + 1;
  }
}

function understand(self: Identity, [, id, word = "", first = "", ...values]: string[]): ServerMessage {
  if (id !== self.id || word === "") return { kind: "unreadable" };
  if (word === "V4") return { kind: "answer", answer: first, isRefusal: false };
  if (word === "HTBT" || word === "V0") return { kind: "answer", answer: word, isRefusal: false };
  const answer = (result: string): Buffer[] => [packet(self, "V4", [word, result, first], null).bytes];
  const effect = effectOf(word, values);
  const acks = answer(effect ? "DONE" : "ERROR");
  return { kind: "command", word, values, acks, refusals: answer("ERROR"), effect } satisfies Command;
}

function effectOf(word: string, values: readonly string[]): Effect | undefined {
  const seconds = Number(values[1] ?? Number.NaN);
  switch (word) {
    case "D1":
      return { kind: "locate" };
    case "S71":
      return values[0] === "22" && seconds >= 1 ? { kind: "interval", seconds } : undefined;
    case "R1":
      return { kind: "restart" };
    default:
      return undefined;
  }
}
