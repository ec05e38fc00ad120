import type { MetricKey } from "./metric-keys.ts";

/**
 * What devices say, in one vocabulary for all brands. Units, key names and "no reading" are settled by the codec that makes
 * a message, and never again. One frame may carry several messages: an alarm with its position and its battery.
 */
export type TrackerMessage =
  | Login
  | Authentication
  | Heartbeat
  | Fix
  | Vitals
  | Alarm
  | DeviceInfo
  | CommandAnswer
  | MessageAnswer
  | TextFromDevice
  | VoicePart
  | EcgPart;

interface Timed {
  /** The device's own clock, raw and possibly wrong; null when the frame has none. */
  deviceTimeMs: number | null;
}

/** Who the device says it is. Always the last message of a Decoded: what follows depends on the device that logs in. */
export interface Login {
  kind: "login";
  /** As sent: an IMEI, or the shorter terminal id of protocols that do not send it. */
  id: string;
  /** How the device proves itself; absent where the protocol has no way to. */
  proof?: LoginProof;
}

/** A device that once got a code must know it, or ask for it again. */
export type LoginProof = { kind: "code"; code: string } | { kind: "registers" } | { kind: "none" };

/** The code that the device proves itself with from now on. Stored before it is sent; null: the device gives it up. */
export interface Authentication {
  kind: "authentication";
  code: string | null;
}

/** Nothing but a sign of life. */
export interface Heartbeat {
  kind: "heartbeat";
}

export interface GpsPosition {
  lat: number;
  lng: number;
  altitudeM: number | null;
  speedKmh: number | null;
  /** Degrees, 0 to 359. */
  heading: number | null;
  accuracyM: number | null;
  satellites: number | null;
}

export interface CellTower {
  mcc: number;
  mnc: number;
  lac: number;
  cid: number;
  /** dBm. */
  signalDbm: number | null;
}

export interface AccessPoint {
  /** Lower case with colons. */
  mac: string;
  signalDbm: number | null;
}

/** A position report. Without `gps` the place is known only by the networks around, if at all. */
export interface Fix extends Timed {
  kind: "fix";
  gps: GpsPosition | null;
  cells: CellTower[];
  accessPoints: AccessPoint[];
  /** Home network of the report, for the carrier; null when the frame names none. */
  network: { mcc: number; mnc: number } | null;
  /** Stored on the device and sent late. */
  isBuffered: boolean;
}

/** Readings. Null is "no reading"; `extra` holds what the frame says beside the ten keys, as JSON values. */
export interface Vitals extends Timed {
  kind: "vitals";
  metrics: Partial<Record<MetricKey, number | null>>;
  extra: Record<string, unknown>;
}

/** Alarms are named like the event types they become. */
export type AlarmType =
  | "sos"
  | "fall"
  | "low_battery"
  | "power_off"
  | "power_on"
  | "not_worn"
  | "inactivity"
  | "overspeed"
  | "tamper"
  | "charging_started"
  | "charging_stopped"
  | "sim_changed"
  | "ecg_abnormal"
  | "custom";

export interface Alarm extends Timed {
  kind: "alarm";
  type: AlarmType;
  /** The code on the wire, kept in the event's data. */
  code: string;
}

/** Facts about the device itself. */
export interface DeviceInfo {
  kind: "info";
  firmware?: string;
  iccid?: string;
  imsi?: string;
}

/** The device's answer to a command. */
export interface CommandAnswer {
  kind: "command_answer";
  /** The command word or code on the wire, in upper case ("AP16", "CR"). */
  word: string;
  /** Our serial, where the protocol echoes it. */
  serial: string | null;
  /** False: refused. Null: the protocol does not say, an answer means accepted. */
  isAccepted: boolean | null;
  /** Why it was refused, where the protocol says it. */
  refusal?: "device_rejected" | "invalid_params" | "not_supported";
  fields: string[];
}

/** The device's answer to a text, or to one part of a recording, that it was sent. */
export interface MessageAnswer {
  kind: "message_answer";
  /** Our serial, where the protocol echoes it. */
  serial: string | null;
  /** What was answered, where the protocol tells messages by their kind alone. */
  messageType: "text" | "voice" | null;
  isAccepted: boolean;
  /** The part that is meant; null where messages go in one piece, 0 where a text counts as no part. */
  sequence: number | null;
  /** Nothing of the message is missing after this part. */
  isLast: boolean;
}

export interface TextFromDevice extends Timed {
  kind: "text";
  text: string;
}

/** A piece of an audio file, in the order of `sequence` from 1 to `total`. */
export interface VoicePart extends Timed {
  kind: "voice_part";
  /** Names the recording among those of the device. */
  transfer: string;
  total: number;
  sequence: number;
  bytes: Buffer;
}

export interface EcgPart extends Timed {
  kind: "ecg_part";
  transfer: string;
  total: number;
  sequence: number;
  samplingRateHz: number;
  lead: number;
  /** Microvolt of one unit of a sample. */
  scaleUv: number;
  gain: number | null;
  samples: number[];
}
