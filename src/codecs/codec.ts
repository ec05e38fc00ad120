import type { TrackerMessage } from "./tracker-message.ts";

/**
 * A codec is pure: bytes in; frames, problems and the rest of the buffer out. It knows no socket, database, clock or logger.
 * The connection owns the buffer, its cap, and the session.
 */
export interface Codec {
  protocol: string;
  /** Of protocols whose frames may be longer than the 8 KB that a connection otherwise waits for one. */
  longestFrameBytes?: number;
  /** True when the first bytes can only be of this protocol, false when they cannot, undefined while it is too early to say. */
  recognizes(start: Buffer): boolean | undefined;
  /** The same bytes and session give the same result. Never throws: what cannot be read is a problem, and is skipped. */
  decode(bytes: Buffer, session: Session): Decoded;
  /** The frames of a downlink, in order. Throws UnsupportedDownlink for what the model cannot be told. */
  encode(downlink: Downlink, session: Session): Buffer[];
  /** What the device says when it has taken a frame of a command. Without it any answer that fits the serial is one. */
  answerTo?(frame: Buffer): AwaitedAnswer | undefined;
}

export interface AwaitedAnswer {
  /** As in CommandAnswer. */
  word: string;
  /** The first field of an answer that accepts; another value refuses, none says nothing. */
  echo?: string;
}

export interface Decoded {
  frames: DecodedFrame[];
  problems: DecodeProblem[];
  /** The incomplete tail, to be handed back with the next bytes; after a login everything behind it. */
  rest: Buffer;
}

export interface DecodedFrame {
  messages: TrackerMessage[];
  /** Written only after the messages are committed: a device that sees the answer deletes its copy. */
  replies: Buffer[];
  /** The frame as it came, a part of the decoded bytes; tells a resent packet, and is kept when the frame cannot be stored. */
  raw: Buffer;
}

/** A malformed frame, or bytes between frames that belong to none. */
export interface DecodeProblem {
  reason: string;
  offset: number;
  /** True when a whole frame was skipped, false for stray bytes. */
  isFrame: boolean;
}

export interface Session {
  /** The service's time, set by the connection before each call. */
  nowMs: number;
  /** Undefined until a login has been accepted. */
  device: SessionDevice | undefined;
  /** Notes of the codec about this connection (the maker's letters, a counter). */
  readonly memory: Map<string, string>;
}

/** What a codec may know of the device that logged in. */
export interface SessionDevice {
  imei: string;
  /** The id the device uses on the wire. */
  id: string;
  utcOffsetMinutes: number;
  /** The traits of its model in the catalog, as plain data. */
  traits: Readonly<Record<string, unknown>>;
  /** The organization's language, two letters. */
  locale: string;
  /** Serials of commands that wait for an answer; a frame that begins with one of them is an answer. */
  outstandingSerials: ReadonlySet<string>;
}

/** What the service tells a device. */
export type Downlink =
  | { kind: "command"; type: string; params: Readonly<Record<string, unknown>>; serial: string }
  | { kind: "text"; text: string; senderName: string; serial: string }
  | { kind: "voice_part"; senderName: string; serial: string; total: number; sequence: number; bytes: Buffer }
  | { kind: "clock" };

export class UnsupportedDownlink extends Error {}
