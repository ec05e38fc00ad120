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
import type { Sighting } from "./sighting.ts";

const version = "1A0900";
const name = "GL300";
const maxPending = 8 * 1024;

/** A GL300. `hasSack`: it keeps each report until the server has answered it. */
export function makeGl200Device(hasSack: boolean): DeviceProtocol {
  /** The clock for answers to commands: the time of what was said last. */
  let clockMs = 0;
  const packet = (self: Identity, now: Snapshot, word: string, fields: string, kind = "RESP"): Packet => {
    clockMs = now.atMs;
    const bytes = Buffer.from(
      `+${kind}:GT${word},${version},${self.imei},${name},${fields}${tail(now.atMs)}`,
      "latin1",
    );
    const answer = word === "HBD" ? "HBD" : hasSack ? countOf(now.atMs) : null;
    return { bytes, answer };
  };
  const alive = (self: Identity, now: Snapshot): Packet => packet(self, now, "HBD", "", "ACK");
  const place = (now: Snapshot): string => `0,0,1,${locationGroup(now)},0.0,${now.life.battery},`;
  return {
    login: alive,
    heartbeat: alive,
    location: (self, now, isStored) => packet(self, now, "FRI", place(now), isStored ? "BUFF" : "RESP"),
    alarm: (self, now, alarm) =>
      alarm === "low_battery"
        ? packet(self, now, "BPL", `3.53,${locationGroup(now)},,`)
        : packet(self, now, alarmWords[alarm], place(now)),
    // Trackers measure nothing of their wearers; this one says how it is itself.
    readings: (self, now, what) => (what === "all" ? [packet(self, now, "INF", statusFields(now))] : []),
    voice: () => [],
    ecg: () => [],
    read: (self, bytes) => read(self, bytes, clockMs),
  };
}

/** Nobody falls in the eyes of a tracker: its button is the only alarm. */
const alarmWords: Record<Exclude<AlarmKind, "low_battery">, string> = { sos: "SOS", fall: "SOS" };

function compactTime(timeMs: number): string {
  const { year, month, day, clock } = utcParts(timeMs);
  return year + month + day + clock;
}

const hex4 = (value: number): string => (value & 0xffff).toString(16).toUpperCase().padStart(4, "0");
const countOf = (timeMs: number): string => hex4(Math.floor(timeMs / 100));
const tail = (timeMs: number): string => `${compactTime(timeMs)},${countOf(timeMs)}$`;

/** Without a fix the coordinates are empty. */
function locationGroup({ atMs, seen }: Snapshot): string {
  const { gps } = seen;
  const fix = gps
    ? [1, gps.speedKmh.toFixed(1), gps.heading, gps.altitudeM.toFixed(1), gps.lng.toFixed(6), gps.lat.toFixed(6)]
    : [0, "", "", "", "", ""];
  return [...fix, gps ? compactTime(atMs) : "", ...cellFields(seen)].join(",");
}

function cellFields({ mcc, mnc, cells }: Sighting): string[] {
  const [cell] = cells;
  const network = [mcc, mnc].map((number) => String(number).padStart(4, "0"));
  return cell ? [...network, hex4(cell.lac), hex4(cell.cid)] : ["", "", "", ""];
}

function statusFields({ atMs, seen, life }: Snapshot): string {
  const signal = Math.round((seen.gsmPercent * 31) / 100);
  const volts = (3.5 + life.battery / 150).toFixed(2);
  const power = life.isCharging ? 1 : 0;
  return `41,,${signal},0,${power},,,${volts},${power},1,0,0,0,${compactTime(atMs)},${life.battery},1,20,,,`;
}

function read(self: Identity, bytes: Buffer, clockMs: number): { messages: ServerMessage[]; rest: Buffer } {
  const messages: ServerMessage[] = [];
  let at = 0;
  for (let end = bytes.indexOf("$", at, "latin1"); end !== -1; end = bytes.indexOf("$", at, "latin1")) {
    messages.push(understand(self, bytes.toString("latin1", at, end), clockMs));
    at = end + 1;
  }
  const rest = bytes.subarray(at);
  return rest.length > maxPending
    ? { messages: [...messages, { kind: "unreadable" }], rest: Buffer.alloc(0) }
    : { messages, rest };
}

function understand(self: Identity, text: string, clockMs: number): ServerMessage {
  const [, heartbeat, count] = /^\+SACK:(?:(GTHBD),[^,]*,)?([\dA-F]{4})$/.exec(text) ?? [];
  if (count !== undefined) return { kind: "answer", answer: heartbeat ? "HBD" : count, isRefusal: false };
  const [, , sub = "", serial] = /^AT\+GTRTO=([^,]*),([\dA-F]),,,,,,([\dA-F]{4})$/.exec(text) ?? [];
  return serial === undefined ? { kind: "unreadable" } : command(self, sub, serial, clockMs);
}

const operations: Readonly<Record<string, readonly [word: string, effect: Effect]>> = {
  "1": ["RTL", { kind: "locate" }],
  "3": ["REBOOT", { kind: "restart" }],
  "4": ["RESET", { kind: "factory_reset" }],
  "5": ["PWROFF", { kind: "power_off" }],
};

function command(self: Identity, sub: string, serial: string, clockMs: number): Command {
  const [word, effect] = operations[sub] ?? [sub, undefined];
  const ack = `+ACK:GTRTO,${version},${self.imei},${name},${word},${serial},${tail(clockMs)}`;
  return { kind: "command", word: "GTRTO", values: [sub], acks: [Buffer.from(ack, "latin1")], refusals: [], effect };
}
