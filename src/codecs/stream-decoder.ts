import { MalformedFrame } from "./malformed-frame.ts";
import type { FrameContent, FrameReport, ProtocolDefinition, Session } from "./protocol-definition.ts";
import type { TrackerMessage } from "./tracker-message.ts";

export interface Decoded {
  readonly frames: readonly DecodedFrame[];
  readonly problems: readonly DecodeProblem[];
  /** What was skipped after the last frame; all that was skipped when there is none. */
  readonly trailing: { readonly malformed: number; readonly bytes: number };
  /** It stopped at the largest number of frames: what is pending has not been looked at. */
  readonly hasMore: boolean;
}

export interface DecodedFrame {
  messages: TrackerMessage[];
  /** Written only after the messages are committed: a device that sees the answer deletes its copy. */
  replies: readonly Buffer[];
  /** Written instead when the recording that the frame is a part of is refused; without them the replies are. */
  refusals?: Buffer[];
  /** The frame as it came; identifies a resent packet, and is kept when the frame cannot be stored. */
  raw: Buffer;
  /** As in FrameContent. */
  reports?: readonly FrameReport[];
  /** The connection is closed after the answer. */
  isLast?: boolean;
}

/** A malformed frame, or bytes between frames that belong to none. */
export interface DecodeProblem {
  reason: string;
  /** Counted from the first byte that was pending. */
  offset: number;
  /** True when a whole frame was skipped, false for stray bytes. */
  isFrame: boolean;
}

const noBytes = Buffer.alloc(0);
const noFrames: Decoded["frames"] = [];
const noProblems: Decoded["problems"] = [];
const noTrailing: Decoded["trailing"] = { malformed: 0, bytes: 0 };

/**
 * The bytes of one connection as frames. Keeps the incomplete tail and how far it was scanned, so that a byte is not scanned
 * again because more bytes came; the tail grows by doubling, so that it is not copied for every chunk either.
 */
export class StreamDecoder {
  readonly #protocol: ProtocolDefinition;
  /** Pending are the bytes from #start to #end. Those before #start may be part of frames and are never overwritten. */
  #store: Buffer = noBytes;
  #start = 0;
  #end = 0;
  #scanned = 0;
  #carried = 0;

  constructor(protocol: ProtocolDefinition) {
    this.#protocol = protocol;
  }

  get pendingBytes(): number {
    return this.#end - this.#start;
  }

  /** A view, valid until the next call. */
  get pending(): Buffer {
    // Most chunks are one frame: each view would be an object of its own that lives as long as its packet.
    const isWhole = this.#start === 0 && this.#end === this.#store.length;
    return isWhole ? this.#store : this.#store.subarray(this.#start, this.#end);
  }

  push(chunk: Buffer): void {
    const pending = this.pendingBytes;
    if (pending === 0) {
      this.#store = chunk;
      this.#start = 0;
      this.#end = chunk.length;
      return;
    }
    if (this.#end + chunk.length > this.#store.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(64, 2 * pending, pending + chunk.length));
      this.#store.copy(grown, 0, this.#start, this.#end);
      this.#store = grown;
      this.#start = 0;
      this.#end = pending;
    }
    chunk.copy(this.#store, this.#end);
    this.#end += chunk.length;
  }

  /**
   * Reads what is pending, up to a login, because what follows depends on the device that logs in, or up to this many frames.
   * Throws only for a defect.
   */
  decode(session: Session, maxFrames = Number.POSITIVE_INFINITY): Decoded {
    let frames: DecodedFrame[] | undefined;
    let problems: DecodeProblem[] | undefined;
    let [malformed, strayBytes] = [0, 0];
    let hasMore = false;
    const bytes = this.pending;
    let at = 0;
    let decodedEnd = 0;
    let [scannedTo, carried] = [this.#scanned, this.#carried];
    for (;;) {
      // Most chunks are one frame: there is nothing to look for after it.
      if (at === bytes.length) {
        strayBytes = at - decodedEnd;
        this.clear();
        break;
      }
      const piece = this.#protocol.nextPiece(bytes, at, scannedTo, session, carried);
      if (piece.kind === "incomplete") {
        strayBytes = piece.start - decodedEnd;
        this.#keepFrom(piece.start, piece.scannedTo, piece.carried);
        break;
      }
      if (piece.end <= at) throw new Error(`The ${this.#protocol.slug} codec found a piece without bytes.`);
      const { start, end } = piece;
      const before = at;
      at = end;
      if (piece.kind === "frame") {
        const raw = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
        const content = this.#read(raw, session);
        if (content instanceof MalformedFrame) {
          problems = withItem(problems, { reason: content.reason, offset: start, isFrame: true });
          malformed++;
          if (content.resumeAt !== undefined) at = Math.max(before + 1, start + content.resumeAt);
        } else {
          frames = withItem(frames, frameOf(content, raw));
          malformed = 0;
          decodedEnd = end;
          if (content.messages.at(-1)?.kind === "login") {
            this.#keepFrom(content.isReadAgain && !session.device ? start : end);
            break;
          }
          if (frames.length >= maxFrames) {
            this.#keepFrom(end);
            hasMore = this.pendingBytes > 0;
            break;
          }
        }
      } else {
        const isFrame = piece.kind === "broken";
        const reason = isFrame ? piece.reason : "bytes outside of frames";
        problems = withItem(problems, { reason, offset: start, isFrame });
        if (isFrame) malformed++;
      }
      scannedTo = at;
      carried = 0;
    }
    const trailing = malformed === 0 && strayBytes === 0 ? noTrailing : { malformed, bytes: strayBytes };
    return { frames: frames ?? noFrames, problems: problems ?? noProblems, trailing, hasMore };
  }

  clear(): void {
    this.#store = noBytes;
    this.#start = 0;
    this.#end = 0;
    this.#scanned = 0;
    this.#carried = 0;
  }

  #read(raw: Buffer, session: Session): FrameContent | MalformedFrame {
    try {
      return this.#protocol.readFrame(raw, session);
    } catch (error) {
      if (error instanceof MalformedFrame) return error;
      throw error;
    }
  }

  /** Offsets into what was pending. */
  #keepFrom(offset: number, scannedTo: number = offset, carried = 0): void {
    const rest = this.pendingBytes - offset;
    if (rest === 0) {
      this.clear();
      return;
    }
    this.#scanned = Math.max(0, scannedTo - offset);
    this.#carried = carried;
    this.#start += offset;
    // A copy: a small tail must not keep a large chunk in memory.
    if (rest * 2 >= this.#store.length || this.#store.length <= 128) return;
    this.#store = Buffer.from(this.pending);
    this.#start = 0;
    this.#end = rest;
  }
}

function frameOf({ messages, replies, refusals, reports, isLast }: FrameContent, raw: Buffer): DecodedFrame {
  const frame: DecodedFrame = { messages, replies, raw };
  if (refusals) frame.refusals = refusals;
  if (reports) frame.reports = reports;
  if (isLast) frame.isLast = true;
  return frame;
}

/** A list begins with its first item: an empty one takes room for seventeen when it grows. */
function withItem<Item>(list: Item[] | undefined, item: Item): Item[] {
  if (!list) return [item];
  list.push(item);
  return list;
}
