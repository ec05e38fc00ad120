import type {
  AwaitedAnswer,
  Downlink,
  ProtocolDefinition,
  RefusalReason,
  SessionDevice,
} from "../codecs/protocol-definition.ts";
import { type Decoded, type DecodedFrame, StreamDecoder } from "../codecs/stream-decoder.ts";
import type { Login, TrackerMessage } from "../codecs/tracker-message.ts";
import type { DeviceHold, IngestDevice } from "../ingest/device-memory.ts";
import type { Outcome, Packet, PacketOwner } from "../ingest/packet.ts";
import { networkOf } from "../lib/network-of.ts";
import type { Admission } from "./admission.ts";
import type { ConnectionHost, ConnectionState } from "./connection-host.ts";
import { ConnectionSession, noSerials, type PendingLogin } from "./connection-session.ts";
import { type ConnectionSocket, setReading, writeAll } from "./connection-socket.ts";
import { clockFrames, type DeviceLink } from "./downlink.ts";
import type { CloseReason } from "./gateway-metrics.ts";
import { Inflow } from "./inflow.ts";
import type { Peer } from "./peer-limits.ts";
import { recognize } from "./recognition.ts";
import { type StrayCounts, withStrays } from "./stray-counts.ts";

const emptyBuffer = Buffer.alloc(0);
const isLogin = (message: TrackerMessage): message is Login => message.kind === "login";

/**
 * One socket: bytes to frames, frames to ingest, answers back in order and only after the commit. Time limits are looked after
 * by the gateway's sweep and the socket's listeners are shared functions, so that an idle device costs few bytes.
 */
export class Connection implements PacketOwner, DeviceLink, Peer {
  state: ConnectionState = "recognizing";
  hold: DeviceHold | undefined;
  modelSlug = "";
  readonly remoteAddr: string;
  readonly network: string;
  readonly #host: ConnectionHost;
  readonly #socket: ConnectionSocket;
  #protocol: ProtocolDefinition | undefined;
  #session: ConnectionSession | undefined;
  /** Undefined until the protocol is recognized. */
  #decoder: StreamDecoder | undefined;
  /** The first bytes, until they show the protocol. */
  #undecided: Buffer = emptyBuffer;
  /** Undefined until the peer sends what nobody can read. */
  #strays: StrayCounts | undefined;
  readonly #inflow: Inflow;
  #pendingLogin: PendingLogin | undefined;
  #refusesSim: Admission["refusesSim"];
  #lastWords: Buffer | undefined;
  #isReading = true;
  #hasEnded = false;
  /** Whole milliseconds, which take no memory of their own. */
  readonly #openedAtMs = Math.floor(performance.now());
  #lastDataAtMs = this.#openedAtMs;
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
    this.network = networkOf(remoteAddr);
    this.#inflow = new Inflow(host.limits, this);
    if (protocol) this.#speak(protocol);
  }

  get protocol(): string {
    return this.#protocol?.slug ?? "unknown";
  }

  /** Undefined until a login has been accepted. */
  get sessionDevice(): SessionDevice | undefined {
    return this.#session?.device;
  }

  /** Made when somebody first asks: most devices wait for nothing. */
  get outstandingSerials(): Set<string> {
    const device = this.sessionDevice as SessionDevice;
    if (device.outstandingSerials === noSerials) device.outstandingSerials = new Set();
    return device.outstandingSerials as Set<string>;
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
    const session = this.#session as ConnectionSession;
    session.nowMs = this.#host.clock.nowMs();
    return (this.#protocol as ProtocolDefinition).encode(downlink, session);
  }

  answersTo(frames: readonly Buffer[]): AwaitedAnswer[] {
    return frames.flatMap((frame) => this.#protocol?.answerTo?.(frame) ?? []);
  }

  send(frames: readonly Buffer[]): Promise<boolean> {
    if (!this.isOpen) return Promise.resolve(false);
    const sent = writeAll(this.#socket, frames);
    this.#noteUnread();
    return sent;
  }

  onData(chunk: Buffer): void {
    if (this.state === "closing" || this.state === "closed") return;
    this.#lastDataAtMs = Math.floor(performance.now());
    if (this.#decoder) this.#decoder.push(chunk);
    else if (!this.#recognize(chunk)) return;
    if (this.state !== "resolving") this.#decode();
    this.#host.checkRoom();
    this.updateReading();
  }

  giveWay(): void {
    this.destroy("unlogged_limit");
  }

  /** The peer has sent its last byte; what it sent is still answered. */
  onEnd(): void {
    this.#hasEnded = true;
    if (this.state !== "resolving" && !this.#inflow.hasMore) this.close("peer");
  }

  onClosed(): void {
    if (this.state !== "closing" && this.state !== "closed") this.#host.metrics.closed("peer");
    this.state = "closed";
    this.#forget();
    this.#pendingLogin?.withdraw?.();
    this.#inflow.leave();
    this.#host.peers.release(this, this.#pendingLogin?.tailBytes ?? 0);
    this.#host.onClose(this);
  }

  onDrain(): void {
    this.#unreadSinceMs = 0;
    this.updateReading();
  }

  /** The end of a datagram is not completed by the next one. True: there was such an end. */
  dropIncomplete(): boolean {
    // What was only not decoded yet is none.
    const isIncomplete = !this.#inflow.hasMore && this.#pendingBytes > 0;
    if (isIncomplete) this.#decoder?.clear();
    return isIncomplete;
  }

  #decode(): void {
    // The decoder stops after a login, also after one that a device on this connection repeats.
    while (this.#decodeFrames() && this.state === "open" && this.#pendingBytes > 0);
  }

  /** There may be room for what was left undecoded. */
  goOn(): void {
    if (this.#inflow.hasMore) this.#decode();
    if (this.state !== "open") return;
    if (this.#hasEnded && !this.#inflow.hasMore) this.close("peer");
    else this.updateReading();
  }

  get #pendingBytes(): number {
    return this.#decoder?.pendingBytes ?? 0;
  }

  /** True: the last frame was a login, and what follows it has not been read. */
  #decodeFrames(): boolean {
    const { limits, clock, metrics, log } = this.#host;
    const protocol = this.#protocol as ProtocolDefinition;
    this.#session ??= new ConnectionSession();
    this.#session.nowMs = clock.nowMs();
    const maxFrames = this.#inflow.roomAt(performance.now());
    if (maxFrames === 0) {
      this.#inflow.leaveUndecoded(this.#pendingBytes);
      return false;
    }
    let decoded: Decoded;
    try {
      decoded = (this.#decoder as StreamDecoder).decode(this.#session, maxFrames);
    } catch (error) {
      log.error({ err: error, protocol: protocol.slug }, "a codec failed");
      this.destroy("codec_error");
      return false;
    }
    const { frames, problems } = decoded;
    this.#inflow.leaveUndecoded(decoded.hasMore ? this.#pendingBytes : 0);
    if (frames.length > 0) metrics.frames(protocol.slug, frames.length);
    if (problems.length > 0) metrics.problems(protocol.slug, problems.length);
    const last = frames.at(-1);
    this.#strays = withStrays(this.#strays, decoded);
    for (const frame of frames) {
      if (this.state !== "awaiting_login" && this.state !== "open") return false;
      this.#take(frame);
    }
    const followsLogin = last?.messages.some(isLogin) === true;
    const maxPending = this.hold ? Math.max(limits.bytesWithoutFrame, protocol.maxFrameBytes) : limits.unloggedBytes;
    const isTooLong = this.#pendingBytes > maxPending && !followsLogin && !this.#inflow.hasMore;
    // A request is refused at once: its sender waits for an answer, and cannot know what follows it.
    const isRefused = problems.length > 0 && protocol.transports.includes("http");
    const excess = this.#strays?.excess(limits) ?? (isRefused ? "malformed" : isTooLong ? "garbage" : undefined);
    if (excess) this.close(excess, this.#refusal("unreadable"));
    return followsLogin;
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
      else if (this.#refusesSim?.(frame.messages)) this.close("sim_refused");
      else this.#submit(frame);
    } else if (login) {
      this.state = "resolving";
      const pending = { frame, tailBytes: this.#pendingBytes, withdraw: undefined };
      this.#pendingLogin = pending;
      if (this.#host.peers.ask(this, pending.tailBytes)) void this.#login(login, pending);
      else this.destroy("unlogged_limit");
    } else this.destroy("no_login");
  }

  #submit(frame: DecodedFrame): void {
    this.#inflow.add(frame);
    this.#host.ingest.submit({
      hold: this.hold as DeviceHold,
      protocol: this.protocol,
      frame,
      receivedAtMs: this.#host.clock.nowMs(),
      owner: this,
    });
  }

  async #login(login: Login, pending: PendingLogin): Promise<void> {
    const { log, peers, admissions } = this.#host;
    let admission: Admission | undefined;
    try {
      admission = await admissions.admit({
        protocol: this.protocol,
        login,
        remoteAddr: this.remoteAddr,
        network: this.network,
        isDatagram: this.#socket.isDatagram === true,
        messages: pending.frame.messages,
        isAlive: () => this.state === "resolving",
        onWaiting: (withdraw) => {
          pending.withdraw = withdraw;
        },
      });
    } catch (error) {
      log.warn({ err: (error as Error).message }, "a login could not be looked up");
      return this.destroy("unavailable");
    }
    if (this.state !== "resolving") return;
    peers.answered(this, pending.tailBytes);
    pending.tailBytes = 0;
    if (!admission) return this.close("unknown_device", this.#refusal("unknown_device"));
    this.hold = admission.hold;
    this.modelSlug = admission.modelSlug;
    this.#refusesSim = admission.refusesSim;
    this.#inflow.measureBy(admission.budgets);
    (this.#session as ConnectionSession).device = admission.device;
    this.state = "open";
    if (!this.#host.onOpen(this, admission.hold)) return;
    const tailBytes = this.#pendingBytes + (this.#socket.readableLength ?? 0);
    if (!this.#inflow.hasRoomForTail(tailBytes)) return this.destroy("unlogged_limit");
    this.#submit(pending.frame);
    if (this.#pendingBytes > 0) this.#decode();
    this.goOn();
    if (this.isOpen && !this.#isReading) setReading(this.#socket, "stopped");
  }

  packetSettled({ frame, isRefused }: Packet, outcome: Outcome): void {
    this.#inflow.remove(frame);
    if (this.state === "closed") return;
    if (outcome === "stored") {
      this.#answer(frame, isRefused === true);
      if (this.isOpen) this.#host.onMessages(this, frame.messages);
      if (frame.isLast) this.close("peer");
    } else if (outcome === "stale") this.destroy("overtaken");
    else if (outcome === "lost") this.destroy("shutdown");
    if (this.state === "closing") this.#endIfAnswered();
    else if (this.state === "open" && (!this.#inflow.hasMore || this.#inflow.isHalfFree)) this.goOn();
  }

  // Only after the commit: a device that sees the answer deletes its copy.
  #answer(frame: DecodedFrame, isRefused: boolean): void {
    for (const reply of (isRefused && frame.refusals) || frame.replies) this.write(reply);
    if (!frame.messages.some(isLogin)) return;
    for (const bytes of clockFrames(this.#protocol as ProtocolDefinition, this.#session as ConnectionSession))
      this.write(bytes);
    if (frame !== this.#pendingLogin?.frame) return;
    this.#pendingLogin = undefined;
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
    const isHeard = isReady && !this.#inflow.hasMore && this.#unreadSinceMs === 0 && !this.#host.isFull;
    const mayRead = isHeard && this.#inflow.mayRead(this.#pendingBytes, performance.now());
    if (mayRead === this.#isReading) return;
    this.#isReading = mayRead;
    setReading(this.#socket, mayRead ? "flowing" : this.state === "open" ? "stopped" : "paused");
  }

  /** Called by the gateway's sweep. A connection that we do not read is not idle, and a login that waits is not late. */
  checkTimes(nowMs: number): void {
    const { limits } = this.#host;
    if (this.state === "open" && !this.#isReading) this.goOn();
    if (this.#unreadSinceMs > 0 && nowMs - this.#unreadSinceMs > limits.unreadTimeoutMs) this.destroy("slow_reader");
    else if (this.state === "open") {
      if (this.#isReading && nowMs - this.#lastDataAtMs > limits.idleTimeoutMs) this.close("idle");
    } else if (
      this.state !== "closed" &&
      !this.#pendingLogin?.withdraw &&
      nowMs - this.#openedAtMs > limits.loginTimeoutMs
    ) {
      if (this.state !== "closing") this.destroy("login_timeout");
      else if (this.#inflow.frames === 0) this.#socket.destroy();
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
    return this.#protocol?.refuse?.(reason, this.#session as ConnectionSession);
  }

  #forget(): void {
    this.#undecided = emptyBuffer;
    this.#decoder?.clear();
    this.#inflow.leaveUndecoded(0);
  }

  #endIfAnswered(): void {
    if (this.#inflow.frames > 0) return;
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
