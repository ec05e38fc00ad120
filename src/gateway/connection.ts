import {
  type AwaitedAnswer,
  type Downlink,
  type ProtocolDefinition,
  type RefusalReason,
  type Session,
  type SessionDevice,
  UnsupportedDownlink,
} from "../codecs/protocol-definition.ts";
import { type Decoded, type DecodedFrame, StreamDecoder } from "../codecs/stream-decoder.ts";
import type { Login, TrackerMessage } from "../codecs/tracker-message.ts";
import type { DeviceHold, IngestDevice } from "../ingest/device-memory.ts";
import type { Ingest } from "../ingest/ingest.ts";
import type { Outcome, Packet, PacketOwner } from "../ingest/packet.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { Admission } from "./admission.ts";
import type { ConnectionSocket } from "./connection-socket.ts";
import type { DeviceLink } from "./downlink.ts";
import type { GatewayLimits } from "./gateway-limits.ts";
import type { CloseReason, GatewayMetrics } from "./gateway-metrics.ts";
import { recognize } from "./recognition.ts";

/** What all connections of a gateway share. */
export interface ConnectionHost {
  readonly protocols: readonly ProtocolDefinition[];
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: GatewayMetrics;
  readonly ingest: Ingest;
  /** Too much waits in the whole gateway: nobody is read. */
  readonly isFull: boolean;
  /** After each chunk, which may have been the one too many. */
  checkRoom(): void;
  /** Settles who the device is; undefined: nobody has registered it, or it does not know its code. */
  admit(connection: Connection, protocol: string, login: Login): Promise<Admission | undefined>;
  /** The connection is the device's from now on, and an older one of this process is closed; false: there is a newer one. */
  onOpen(connection: Connection, hold: DeviceHold): boolean;
  /** The login is stored and answered. */
  ready(connection: Connection): void;
  /** What the device said is stored and answered. */
  onMessages(connection: Connection, messages: readonly TrackerMessage[]): void;
  onClose(connection: Connection): void;
}

/**
 * `closing` reads no more, and is closed once the frames that wait are answered. There is no way back from it.
 */
type State = "recognizing" | "awaiting_login" | "resolving" | "open" | "closing" | "closed";

const emptyBuffer = Buffer.alloc(0);
const isLogin = (message: TrackerMessage): message is Login => message.kind === "login";
/** Shared by connections that no device has logged in on, so that they stay small. */
const noSerials = new Set<string>();

/**
 * One socket: bytes to frames, frames to ingest, answers back in order and only after the commit. Time limits are looked after
 * by the gateway's sweep and the socket's listeners are shared functions, so that an idle device costs few bytes.
 */
export class Connection implements PacketOwner, DeviceLink {
  state: State = "recognizing";
  hold: DeviceHold | undefined;
  modelSlug = "";
  outstandingSerials: Set<string> = noSerials;
  readonly remoteAddr: string;
  readonly #host: ConnectionHost;
  readonly #socket: ConnectionSocket;
  #protocol: ProtocolDefinition | undefined;
  #session: Session | undefined;
  /** Undefined until the protocol is recognized. */
  #decoder: StreamDecoder | undefined;
  /** The first bytes, until they show the protocol. */
  #undecided: Buffer = emptyBuffer;
  #skippedBytes = 0;
  #malformed = 0;
  /** Frames in ingest. */
  #waiting = 0;
  #loginFrame: DecodedFrame | undefined;
  #lastWords: Buffer | undefined;
  #isReading = true;
  #hasEnded = false;
  readonly #openedAtMs: number;
  #lastDataAtMs: number;
  /** Since when the peer does not read; 0: it does. */
  #unreadSinceMs = 0;

  constructor(
    host: ConnectionHost,
    socket: ConnectionSocket,
    remoteAddr: string,
    protocol: ProtocolDefinition | undefined,
  ) {
    this.#host = host;
    this.#socket = socket;
    this.remoteAddr = remoteAddr;
    if (protocol) this.#speak(protocol);
    this.#openedAtMs = performance.now();
    this.#lastDataAtMs = this.#openedAtMs;
  }

  get protocol(): string {
    return this.#protocol?.slug ?? "unknown";
  }

  get transport(): "tcp" | "udp" {
    return this.#socket.isDatagram ? "udp" : "tcp";
  }

  /** Undefined until a login has been accepted. */
  get sessionDevice(): SessionDevice | undefined {
    return this.#session?.device;
  }

  get device(): IngestDevice {
    return (this.hold as DeviceHold).device;
  }

  get epoch(): number {
    return (this.hold as DeviceHold).epoch;
  }

  get isOpen(): boolean {
    return this.state === "open" && this.hold !== undefined && this.hold.state !== "over";
  }

  encode(downlink: Downlink): Buffer[] {
    const session = this.#session as Session;
    session.nowMs = this.#host.clock.nowMs();
    return (this.#protocol as ProtocolDefinition).encode(downlink, session);
  }

  answersTo(frames: readonly Buffer[]): AwaitedAnswer[] {
    return frames.flatMap((frame) => this.#protocol?.answerTo?.(frame) ?? []);
  }

  send(frames: readonly Buffer[]): Promise<boolean> {
    if (!this.isOpen) return Promise.resolve(false);
    const sent = new Promise<boolean>((resolve) => {
      for (const [index, frame] of frames.entries()) {
        if (index < frames.length - 1) this.#socket.write(frame);
        else this.#socket.write(frame, (error) => resolve(!error));
      }
      if (frames.length === 0) resolve(true);
    });
    this.#noteUnread();
    return sent;
  }

  onData(chunk: Buffer): void {
    if (this.state === "closing" || this.state === "closed") return;
    this.#lastDataAtMs = performance.now();
    if (this.#decoder) this.#decoder.push(chunk);
    else if (!this.#recognize(chunk)) return;
    if (this.state !== "resolving") this.#decode();
    this.#host.checkRoom();
    this.updateReading();
  }

  /** The peer has sent its last byte; what it sent is still answered. */
  onEnd(): void {
    this.#hasEnded = true;
    if (this.state !== "resolving") this.close("peer");
  }

  onClosed(): void {
    if (this.state !== "closing" && this.state !== "closed") this.#host.metrics.closed("peer");
    this.state = "closed";
    this.#forget();
    this.#host.onClose(this);
  }

  onDrain(): void {
    this.#unreadSinceMs = 0;
    this.updateReading();
  }

  /** The end of a datagram is not completed by the next one. True: there was such an end. */
  dropIncomplete(): boolean {
    const isIncomplete = this.#pendingBytes > 0;
    this.#decoder?.clear();
    return isIncomplete;
  }

  #decode(): void {
    // The decoder stops after a login, also after one that a device on this connection repeats.
    while (this.#decodeFrames() && this.state === "open" && this.#pendingBytes > 0);
  }

  get #pendingBytes(): number {
    return this.#decoder?.pendingBytes ?? 0;
  }

  /** True: the last frame was a login, and what follows it has not been read. */
  #decodeFrames(): boolean {
    const { limits, clock, metrics, log } = this.#host;
    const protocol = this.#protocol as ProtocolDefinition;
    this.#session ??= { nowMs: 0, device: undefined, memory: new Map() };
    this.#session.nowMs = clock.nowMs();
    let decoded: Decoded;
    try {
      decoded = (this.#decoder as StreamDecoder).decode(this.#session);
    } catch (error) {
      log.error({ err: error, protocol: protocol.slug }, "a codec failed");
      this.destroy("codec_error");
      return false;
    }
    const { frames, problems, trailing } = decoded;
    if (frames.length > 0) metrics.frames(protocol.slug, frames.length);
    if (problems.length > 0) metrics.problems(protocol.slug, problems.length);
    const last = frames.at(-1);
    // What was wrong before a good frame is forgiven, what comes after it counts.
    this.#skippedBytes = (last ? 0 : this.#skippedBytes) + trailing.bytes;
    this.#malformed = (last ? 0 : this.#malformed) + trailing.malformed;
    for (const frame of frames) {
      if (this.state !== "awaiting_login" && this.state !== "open") return false;
      this.#take(frame);
    }
    const isBehindLogin = last?.messages.some(isLogin) === true;
    const maxPending = Math.max(limits.bytesWithoutFrame, this.hold ? protocol.maxFrameBytes : 0);
    const hasGarbage = this.#skippedBytes > limits.bytesWithoutFrame;
    const isTooLong = this.#pendingBytes > maxPending && !isBehindLogin;
    const isMalformed = this.#malformed >= limits.malformedInARow;
    // A request is refused at once: its sender waits for an answer, and cannot know what follows it.
    const isRefused = problems.length > 0 && protocol.transports.includes("http");
    if (isMalformed || hasGarbage || isTooLong || isRefused) {
      this.close(isMalformed || isRefused ? "malformed" : "garbage", this.#refusal("unreadable"));
    }
    return isBehindLogin;
  }

  #recognize(chunk: Buffer): boolean {
    this.#undecided = this.#undecided.length === 0 ? chunk : Buffer.concat([this.#undecided, chunk]);
    const verdict = recognize(this.#host.protocols, this.#undecided);
    const isUndecided = verdict === "wait" && this.#undecided.length <= this.#host.limits.undecidedBytes;
    if (typeof verdict === "object") this.#speak(verdict).push(this.#undecided);
    else if (!isUndecided) this.destroy("unrecognized");
    if (!isUndecided) this.#undecided = emptyBuffer;
    return typeof verdict === "object";
  }

  #speak(protocol: ProtocolDefinition): StreamDecoder {
    this.#protocol = protocol;
    this.state = "awaiting_login";
    this.#decoder = new StreamDecoder(protocol);
    return this.#decoder;
  }

  #take(frame: DecodedFrame): void {
    const login = frame.messages.find(isLogin);
    if (this.state === "open") {
      if (login && login.id !== this.#session?.device?.id) this.close("another_device");
      else this.#submit(frame);
    } else if (login) {
      this.state = "resolving";
      this.#loginFrame = frame;
      void this.#login(login);
    } else this.destroy("no_login");
  }

  #submit(frame: DecodedFrame): void {
    this.#waiting++;
    this.#host.ingest.submit({
      hold: this.hold as DeviceHold,
      protocol: this.protocol,
      frame,
      receivedAtMs: this.#host.clock.nowMs(),
      owner: this,
    });
  }

  async #login(login: Login): Promise<void> {
    const { log, metrics } = this.#host;
    let admission: Admission | undefined;
    try {
      admission = await this.#host.admit(this, this.protocol, login);
    } catch (error) {
      log.warn({ err: (error as Error).message }, "a login could not be looked up");
      return this.destroy("unavailable");
    }
    if (this.state !== "resolving") return;
    if (!admission) {
      metrics.refusedLogin(this.protocol);
      return this.close("unknown_device", this.#refusal("unknown_device"));
    }
    this.hold = admission.hold;
    this.modelSlug = admission.modelSlug;
    this.outstandingSerials = admission.outstandingSerials;
    (this.#session as Session).device = admission.device;
    this.state = "open";
    if (!this.#host.onOpen(this, admission.hold)) return;
    this.#submit(this.#loginFrame as DecodedFrame);
    if (this.#pendingBytes > 0) this.#decode();
    if (this.#hasEnded) this.close("peer");
    else this.updateReading();
  }

  packetSettled({ frame, isRefused }: Packet, outcome: Outcome): void {
    this.#waiting--;
    if (this.state === "closed") return;
    if (outcome === "stored") {
      this.#answer(frame, isRefused === true);
      if (this.isOpen) this.#host.onMessages(this, frame.messages);
      if (frame.isLast) this.close("peer");
    } else if (outcome === "stale") this.destroy("overtaken");
    else if (outcome === "lost") this.destroy("shutdown");
    if (this.state === "closing") this.#endIfAnswered();
    else if (this.state === "open") this.updateReading();
  }

  // Only after the commit: a device that sees the answer deletes its copy.
  #answer(frame: DecodedFrame, isRefused: boolean): void {
    for (const reply of (isRefused && frame.refusals) || frame.replies) this.write(reply);
    if (!frame.messages.some(isLogin)) return;
    try {
      const clock = this.#protocol?.encode({ kind: "clock" }, this.#session as Session) ?? [];
      for (const bytes of clock) this.write(bytes);
    } catch (error) {
      // Not every protocol sets a clock at login.
      if (!(error instanceof UnsupportedDownlink)) throw error;
    }
    if (frame !== this.#loginFrame) return;
    this.#loginFrame = undefined;
    if (this.isOpen) this.#host.ready(this);
  }

  write(bytes: Buffer): void {
    if (this.state === "closed") return;
    this.#socket.write(bytes);
    this.#noteUnread();
  }

  #noteUnread(): void {
    if (this.#socket.writableLength > this.#host.limits.unreadBytes) this.destroy("slow_reader");
    else if (this.#socket.writableNeedDrain && this.#unreadSinceMs === 0) this.#unreadSinceMs = performance.now();
  }

  /** Reads only while what was read before finds its way. */
  updateReading(): void {
    const isReady = this.state === "recognizing" || this.state === "awaiting_login" || this.state === "open";
    const hasRoom = this.#waiting < this.#host.limits.waitingFrames && this.#unreadSinceMs === 0;
    const mayRead = isReady && hasRoom && !this.#host.isFull;
    if (mayRead === this.#isReading) return;
    this.#isReading = mayRead;
    if (mayRead) this.#socket.resume();
    else this.#socket.pause();
  }

  /** Called by the gateway's sweep. A connection that we do not read is not idle. */
  checkTimes(nowMs: number): void {
    const { limits } = this.#host;
    if (this.#unreadSinceMs > 0 && nowMs - this.#unreadSinceMs > limits.unreadTimeoutMs) this.destroy("slow_reader");
    else if (this.state === "open") {
      if (this.#isReading && nowMs - this.#lastDataAtMs > limits.idleTimeoutMs) this.close("idle");
    } else if (this.state !== "closed" && nowMs - this.#openedAtMs > limits.loginTimeoutMs) {
      if (this.state !== "closing") this.destroy("login_timeout");
      else if (this.#waiting === 0) this.#socket.destroy();
    }
  }

  /** Reads no more, answers what waits, says its last words, then closes. */
  close(reason: CloseReason, lastWords?: Buffer): void {
    if (this.state === "closing" || this.state === "closed") return;
    this.state = "closing";
    this.#lastWords = lastWords;
    this.#forget();
    this.#host.metrics.closed(reason);
    this.#isReading = false;
    this.#socket.pause();
    this.#endIfAnswered();
  }

  /** What the protocol says to a device before the connection is closed on it. */
  #refusal(reason: RefusalReason): Buffer | undefined {
    return this.#protocol?.refuse?.(reason, this.#session as Session);
  }

  #forget(): void {
    this.#undecided = emptyBuffer;
    this.#decoder?.clear();
  }

  #endIfAnswered(): void {
    if (this.#waiting > 0) return;
    if (this.#lastWords) this.write(this.#lastWords);
    this.#lastWords = undefined;
    this.#socket.destroySoon();
  }

  /** At once. */
  destroy(reason: CloseReason): void {
    if (this.state === "closed") return;
    if (this.state !== "closing") this.#host.metrics.closed(reason);
    this.state = "closed";
    this.#forget();
    this.#socket.destroy();
  }
}
