import type { EcgRecording } from "./ecg.ts";
import type { Moment } from "./life.ts";
import type { Sighting } from "./sighting.ts";

/** The device's side of a protocol: what a watch writes, and how it understands what it receives. Pure; knows no socket. */
export interface DeviceProtocol {
  /** The first packet of every connection. */
  login(self: Identity, now: Snapshot): Packet;
  heartbeat(self: Identity, now: Snapshot): Packet;
  /** `isStored`: taken without a connection, to be sent later. */
  location(self: Identity, now: Snapshot, isStored: boolean): Packet;
  alarm(self: Identity, now: Snapshot, alarm: AlarmKind): Packet;
  readings(self: Identity, now: Snapshot, what: Measurement): Packet[];
  voice(self: Identity, now: Snapshot, amr: Buffer): Packet[];
  /** None: the watch has no such sensor. */
  ecg(self: Identity, recording: EcgRecording): Packet[];
  /** Everything complete in the bytes, and the incomplete tail. */
  read(self: Identity, bytes: Buffer): { messages: ServerMessage[]; rest: Buffer };
}

/** Sockets that virtual devices have. HTTP is spoken over TCP. */
export type FleetTransport = "tcp" | "udp";

export interface Identity {
  imei: string;
  /** What the device calls itself on the wire. */
  id: string;
}

export interface Snapshot {
  /** The time on the wire. */
  atMs: number;
  life: Moment;
  seen: Sighting;
}

export type AlarmKind = "sos" | "fall" | "low_battery";
export type Measurement = "pulse" | "pressure" | "oxygen" | "temperature" | "all";

export interface Packet {
  bytes: Buffer;
  /** The answer that says "stored"; the same packet is sent until it comes. Null: the protocol answers nothing. */
  answer: string | null;
}

export type ServerMessage = { kind: "answer"; answer: string; isRefusal: boolean } | Command | { kind: "unreadable" };

export interface Command {
  kind: "command";
  /** The word or code on the wire, in upper case: `16`, `UPLOAD`. */
  word: string;
  values: readonly string[];
  /** Written at once, before anything the effect causes. */
  acks: Buffer[];
  /** Instead of the acks, by a watch that will not; empty where the protocol has no word for it. */
  refusals: Buffer[];
  effect: Effect | undefined;
}

/** What a watch does when it receives something; `afterMs` obeys late. Tests of faults choose. */
export type Reaction = "obey" | "ignore" | "refuse" | { afterMs: number };
export type React = (command: Command, self: Identity) => Reaction;

/** What a command changes in a device. */
export type Effect =
  | { kind: "locate" }
  /** A fix every ten seconds for three minutes. */
  | { kind: "track" }
  | { kind: "interval"; seconds: number }
  | { kind: "measure"; what: Measurement }
  /** 0 minutes: no longer. */
  | { kind: "measure_every"; what: "all" | "temperature"; minutes: number }
  | { kind: "restart" }
  | { kind: "power_off" }
  | { kind: "factory_reset" }
  /** Kept until a reset to factory settings. */
  | { kind: "setting"; name: Setting; values: readonly string[] }
  /** Rings, so that somebody finds it. */
  | { kind: "ring" }
  | { kind: "text"; text: string }
  | { kind: "voice_part"; transfer: string; total: number; sequence: number; bytes: Buffer };

export type Setting =
  | "timezone"
  | "sos_numbers"
  | "contacts"
  | "more_contacts"
  | "fall_detection"
  | "fall_sensitivity"
  | "calibration";

/** yymmdd, hhmmss and the like: UTC, two digits each. */
export function utcParts(timeMs: number): { year: string; month: string; day: string; clock: string } {
  const [date = "", clock = ""] = new Date(timeMs).toISOString().slice(0, 19).split("T");
  const [year = "", month = "", day = ""] = date.split("-");
  return { year, month, day, clock: clock.replaceAll(":", "") };
}
