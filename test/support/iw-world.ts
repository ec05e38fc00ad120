import type { Dialect } from "../../src/codecs/iw/fields.ts";
import { iw } from "../../src/codecs/iw/protocol.ts";
import type { SessionDevice } from "../../src/codecs/protocol-definition.ts";
import type { TrackerMessage } from "../../src/codecs/tracker-message.ts";
import type { HarnessWorld } from "./codec-harness.ts";

/** For tests: an invented watch of each IW dialect, and the messages its frames say. */

export const NOW_MS = Date.UTC(2026, 4, 6, 7, 8, 9);
export const TIME_MS = Date.UTC(2026, 4, 6, 7, 5, 30);

const TRAITS = {
  A: { dialect: "A", name_encoding: "utf-16be", text_encoding: "utf-16be" },
  B: { dialect: "B", name_encoding: "utf-16be", text_encoding: "gb2312" },
  C: { dialect: "C", name_encoding: "utf-16be", text_encoding: "utf-16be" },
};

export function iwDevice(dialect: Dialect, changes: Partial<SessionDevice> = {}): SessionDevice {
  return {
    imei: "359000000000017",
    id: "359000000000017",
    utcOffsetMinutes: 120,
    traits: TRAITS[dialect],
    locale: "it",
    outstandingSerials: new Set(["700001"]),
    ...changes,
  };
}

export function iwWorld(dialect: Dialect): HarnessWorld {
  return { protocol: iw, nowMs: NOW_MS, device: iwDevice(dialect) };
}

export const heartbeat: TrackerMessage = { kind: "heartbeat" };

export function vitals(
  metrics: Record<string, number | null>,
  deviceTimeMs: number | null = null,
  extra: Record<string, unknown> = {},
): TrackerMessage {
  return { kind: "vitals", deviceTimeMs, metrics, extra };
}

export const BLOCK = "260506A4554.3000N01227.6000E003.2070530117.8506500908700001";
export const NO_FIX = "260506V0000.0000N00000.0000E000.0070530000.0006500008700001";
export const status = { gsm_signal: 20, satellites: 9, bat: 87 };
export const noFixStatus = { gsm_signal: 20, satellites: 0, bat: 87 };
export const gps = {
  lat: 45.905,
  lng: 12.46,
  altitudeM: null,
  speedKmh: 3.2,
  heading: 118,
  accuracyM: null,
  satellites: 9,
};
export const cell = { mcc: 222, mnc: 1, lac: 4321, cid: 7654321, signalDbm: null };
export const network = { mcc: 222, mnc: 1 };
export const fix = {
  kind: "fix" as const,
  deviceTimeMs: TIME_MS,
  gps,
  cells: [cell],
  accessPoints: [],
  network,
  isBuffered: false,
};

export const alarm = (type: string, code: string): TrackerMessage =>
  ({ kind: "alarm", type, code, deviceTimeMs: TIME_MS }) as TrackerMessage;
export const answer = (word: string, serial: string | null, fields: string[] = [], isAccepted: boolean | null = null) =>
  ({ kind: "command_answer", word, serial, isAccepted, fields }) as TrackerMessage;
export const messageAnswer = (
  serial: string,
  sequence: number | null,
  isLast: boolean,
  isAccepted = true,
): TrackerMessage => ({
  kind: "message_answer",
  serial,
  messageType: null,
  isAccepted,
  sequence,
  isLast,
});
export const voice = (sequence: number, bytes: Buffer): TrackerMessage => ({
  kind: "voice_part",
  deviceTimeMs: TIME_MS,
  transfer: "20260506070530",
  total: 2,
  sequence,
  bytes,
});

export type Row = [name: string, dialect: Dialect, frame: string, messages: TrackerMessage[], replies: string[]];
