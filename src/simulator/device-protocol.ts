import type { Moment } from "./life.ts";
import type { Sighting } from "./sighting.ts";

/** The device's side of a protocol: what a watch writes, and how it understands what it is told. Pure; knows no socket. */
export interface DeviceProtocol {
  /** The first packet of every connection. */
  login(self: Identity, now: Snapshot): Packet;
  heartbeat(self: Identity, now: Snapshot): Packet;
  /** `isStored`: taken without a connection, to be sent later. */
  location(self: Identity, now: Snapshot, isStored: boolean): Packet;
  alarm(self: Identity, now: Snapshot, alarm: AlarmKind): Packet;
  readings(self: Identity, now: Snapshot, what: Measurement): Packet[];
  voice(self: Identity, now: Snapshot, amr: Buffer): Packet[];
  /** Everything complete in the bytes, and the incomplete tail. */
  read(self: Identity, bytes: Buffer): { told: Told[]; rest: Buffer };
}

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

export type Told =
  | { kind: "answer"; answer: string; isRefusal: boolean }
  /** `acks` are written at once, before anything the effect causes. */
  | { kind: "command"; acks: Buffer[]; effect: Effect | undefined }
  | { kind: "unreadable" };

/** What being told changes in a device. */
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
  | { kind: "text" }
  | { kind: "voice_part"; isLast: boolean };

/** yymmdd, hhmmss and the like: UTC, two digits each. */
export function utcParts(timeMs: number): { year: string; month: string; day: string; clock: string } {
  const [date = "", clock = ""] = new Date(timeMs).toISOString().slice(0, 19).split("T");
  const [year = "", month = "", day = ""] = date.split("-");
  return { year, month, day, clock: clock.replaceAll(":", "") };
}
