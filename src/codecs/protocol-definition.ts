import type { Static, TSchema } from "@sinclair/typebox";
import type { TrackerMessage } from "./tracker-message.ts";

/**
 * What the program knows of a protocol. `protocols.ts` lists the definitions; no other place names a protocol.
 * A definition is pure: it knows no socket, database, clock or logger.
 */
export interface ProtocolDefinition<Schema extends TSchema = TSchema, Slug extends string = string>
  extends ProtocolRules<Schema, Slug> {
  readonly transports: readonly Transport[];
  /** Largest frame that a connection with a logged-in device may wait for. */
  readonly maxFrameBytes: number;
  /** True: these first bytes can only be this protocol. False: they cannot. Undefined: too early to say. */
  recognizes(start: Buffer): boolean | undefined;
  /**
   * Finds the next piece at or after `at`. Bytes before `scannedTo` were scanned by an earlier call and are not scanned again;
   * `carried` is what that call left in its incomplete piece, else 0. The result depends on the bytes up to the end of the
   * piece, never on where the stream was cut.
   */
  nextPiece(bytes: Buffer, at: number, scannedTo: number, session: Session<TraitsOf<Schema>>, carried: number): Piece;
  /** Reads one whole frame. Throws MalformedFrame. Before the login it answers with a login message. */
  readFrame(raw: Buffer, session: Session<TraitsOf<Schema>>): FrameContent;
  /** The frames of a downlink, in order. Throws UnsupportedDownlink for what the model does not support. */
  encode(downlink: Downlink, session: Session<TraitsOf<Schema>>): Buffer[];
  /** What the device says when it has accepted a frame of a command. Without it any answer with the serial is one. */
  answerTo?(frame: Buffer): AwaitedAnswer | undefined;
  /** Bytes written before the connection is closed on a refused login or an unreadable request. */
  refuse?(reason: RefusalReason, session: Session<TraitsOf<Schema>>): Buffer | undefined;
}

/** The rules of a protocol that hold without a connection: for registering devices, numbering commands and the catalog. */
export interface ProtocolRules<Schema extends TSchema = TSchema, Slug extends string = string> {
  readonly slug: Slug;
  /** Schema of the traits that the catalog gives the protocol's models. */
  readonly traits: Schema;
  readonly terminalIds: TerminalIdRule;
  /** The serial of a command, from its number. Fits the wire of the protocol. */
  serialOf(sequence: number): string;
  /** Reporting interval of each working mode; empty where the protocol has none. */
  readonly modeSeconds: Readonly<Partial<Record<WorkingMode, number>>>;
}

export interface TerminalIdRule {
  /** The id that a device sends in place of its IMEI; null where devices send the IMEI. */
  defaultFor(imei: string): string | null;
  /** Two terminal ids with the same key are the same device. */
  compareKey(terminalId: string): string;
}

/** Keeps the slug a literal type and infers the traits. */
export function defineProtocol<Schema extends TSchema, const Slug extends string>(
  definition: ProtocolDefinition<Schema, Slug>,
): ProtocolDefinition<Schema, Slug> {
  return definition;
}

export type Transport = "tcp" | "udp" | "http";
export type WorkingMode = "normal" | "power_saving" | "emergency";
export type RefusalReason = "unknown_device" | "unreadable";

export type Piece =
  | { kind: "frame"; start: number; end: number }
  /** Bytes that belong to no frame. */
  | { kind: "stray"; start: number; end: number }
  /** A frame that cannot be read; decoding resumes at `end`. */
  | { kind: "broken"; start: number; end: number; reason: string }
  /** More bytes are needed. Everything before `start` is dropped; `carried` is handed to the next call. */
  | { kind: "incomplete"; start: number; scannedTo: number; carried?: number };

export interface FrameContent {
  messages: TrackerMessage[];
  /** Written only after the messages are committed: a device that sees the answer deletes its copy. */
  replies: readonly Buffer[];
  /** Written instead of the replies when the recording that the frame is a part of is refused, where the protocol can say so. */
  refusals?: Buffer[];
  /** The frame names its device beside what it says: it is read again once the login is accepted. */
  isReadAgain?: boolean;
  /** The device asked for the connection to be closed after the answer. */
  isLast?: boolean;
  /**
   * The reports of the frame, where it may hold several or where devices send the same report in different frames. Each is
   * stored, and recognized when it is sent again, by itself. `messages` holds those of all reports.
   */
  reports?: readonly FrameReport[];
}

export interface FrameReport {
  messages: TrackerMessage[];
  /** The bytes of the report: the same ones from the same device are the same report. */
  raw: Buffer;
}

export interface AwaitedAnswer {
  /** As in CommandAnswer. */
  word: string;
  /** The first field of an answer that accepts. Another value refuses; without a field the answer accepts. */
  echo?: string;
}

/** The traits of a schema; of no schema in particular, an open record. */
export type TraitsOf<Schema extends TSchema> = TSchema extends Schema
  ? Readonly<Record<string, unknown>>
  : Readonly<Static<Schema>>;

export interface Session<Traits = Readonly<Record<string, unknown>>> {
  /** The service's time, set by the connection before each call. */
  nowMs: number;
  /** Undefined until a login has been accepted. */
  device: SessionDevice<Traits> | undefined;
  /** What the protocol notes about this connection: the maker's letters, a counter. */
  readonly memory: SessionMemory;
}

export interface SessionMemory {
  get(key: string): string | undefined;
  has(key: string): boolean;
  set(key: string, value: string): unknown;
  delete(key: string): unknown;
  keys(): Iterable<string>;
}

/** What a protocol may know of the device that logged in. */
export interface SessionDevice<Traits = Readonly<Record<string, unknown>>> {
  imei: string;
  /** The id the device uses on the wire. */
  id: string;
  utcOffsetMinutes: number;
  /** The traits of its model in the catalog; empty for a model that has left the catalog. */
  traits: Partial<Traits>;
  /** The organization's language, two letters. */
  locale: string;
  /** The code that the device gets when it registers; absent in protocols without one. */
  authentication?: { code: string; isStored: boolean };
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
