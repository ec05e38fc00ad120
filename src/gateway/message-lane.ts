import { randomInt } from "node:crypto";
import { type Downlink, UnsupportedDownlink } from "../codecs/protocol-definition.ts";
import { rulesOf } from "../codecs/protocols.ts";
import type { MessageAnswer, TrackerMessage } from "../codecs/tracker-message.ts";
import type { Tx } from "../db/database.ts";
import { answeredBy } from "../ingest/message-answers.ts";
import { repeat } from "../lib/lifecycle.ts";
import type { OutboundEntry } from "../outbox/outbound-entry.ts";
import { appendOutbound } from "../outbox/outbound-log.ts";
import { makeOutcomeMetrics, type OutcomeMetrics } from "../outbox/outcome-metrics.ts";
import {
  type ClaimedMessage,
  claimMessage,
  hasWaitingMessage,
  isBeingSent,
  listWaitingDevices,
  markFailed,
  markSent,
  type Sender,
} from "../resources/messages/message-delivery.ts";
import type { FailureReason } from "../resources/messages/message-record.ts";
import type { DeviceLink, DownlinkHost, DownlinkLane } from "./downlink.ts";

const answerWaitMs = 30_000;
/** The first one, and two more when no answer comes. */
const maxWrites = 3;
const maxRefusals = 3;
const tickMs = 250;
const sweepMs = 30_000;

/** A message on its way: one part at a time, the next one when the device has answered. */
interface Transfer {
  message: ClaimedMessage;
  /** What the device repeats in its answer, where its protocol has room for it. */
  serial: string;
  total: number;
  sequence: number;
  writes: number;
  refusals: number;
  /** When the wait for an answer is over; infinite while the part is being written. */
  dueMs: number;
}

/** One connection's messages. Everything that changes them waits for what was begun before. */
interface LinkState {
  transfer: Transfer | undefined;
  work: Promise<void>;
}

/**
 * Sends messages to connected devices, in the order of their creation and apart from commands. What has happened is in the
 * database: delivered is stored with the packet that says so, and a connection that breaks leaves its message to the next one.
 */
export class MessageLane implements DownlinkLane {
  readonly #host: DownlinkHost;
  readonly #outcomes: OutcomeMetrics;
  readonly #states = new Map<DeviceLink, LinkState>();
  readonly #tick: NodeJS.Timeout;
  readonly #stopSweep: () => Promise<void>;

  constructor(host: DownlinkHost) {
    this.#host = host;
    this.#outcomes = makeOutcomeMetrics(host.metrics);
    this.#tick = setInterval(() => this.#checkTimes(), tickMs);
    this.#stopSweep = repeat("waiting messages", sweepMs, host.log, async () => {
      for (const deviceId of await listWaitingDevices(host.db, host.nodeId, host.clock.now())) {
        const link = host.linkOf(deviceId);
        if (link) this.onWake(link);
      }
    });
  }

  onOpen(link: DeviceLink): void {
    this.onWake(link);
  }

  onWake(link: DeviceLink): void {
    if (!this.#states.get(link)?.transfer) this.#then(link, () => this.#next(link));
  }

  onMessages(link: DeviceLink, messages: readonly TrackerMessage[]): void {
    for (const message of messages) {
      if (message.kind !== "message_answer" || !this.#states.get(link)?.transfer) continue;
      this.#then(link, () => this.#answered(link, message));
    }
  }

  onClose(link: DeviceLink): void {
    this.#states.delete(link);
  }

  async close(): Promise<void> {
    clearInterval(this.#tick);
    const open = [...this.#states.values()].map(({ work }) => work);
    this.#states.clear();
    await Promise.all([this.#stopSweep(), ...open]);
  }

  /** Runs the work when what was begun for the connection is done, unless the connection has closed in the meantime. */
  #then(link: DeviceLink, work: () => Promise<void>): void {
    const state = this.#states.get(link) ?? { transfer: undefined, work: Promise.resolve() };
    this.#states.set(link, state);
    const isHere = (): boolean => this.#states.get(link) === state;
    const done = state.work
      .then(async () => {
        if (link.isOpen && isHere()) await work();
      })
      .catch((error: unknown) => {
        // The message stays in `sending`: the next connection, or the sweep, takes it up again.
        this.#drop(link);
        this.#host.log.warn({ err: error, device: link.device.id }, "a message could not be sent; it will be retried");
      })
      .then(() => {
        if (isHere() && !state.transfer && state.work === done) this.#states.delete(link);
      });
    state.work = done;
  }

  #senderOf({ device, epoch }: DeviceLink): Sender {
    return { deviceId: device.id, organizationId: device.organizationId, epoch };
  }

  async #next(link: DeviceLink): Promise<void> {
    const state = this.#states.get(link);
    if (!state || state.transfer) return;
    const { db, clock } = this.#host;
    const sender = this.#senderOf(link);
    if (!(await hasWaitingMessage(db.point, sender, clock.now()))) return;
    const serial = freeSerial(link);
    const message = await claimMessage(db, sender, serial, clock.now());
    if (!message || !link.isOpen) return;
    const chunk = this.#chunkBytes(link);
    const total = message.bytes && chunk !== null ? Math.max(1, Math.ceil(message.bytes.length / chunk)) : 1;
    const transfer: Transfer = {
      message,
      serial,
      total,
      sequence: 1,
      writes: 0,
      refusals: 0,
      dueMs: Number.POSITIVE_INFINITY,
    };
    state.transfer = transfer;
    await this.#write(link, transfer);
  }

  #chunkBytes({ modelSlug }: DeviceLink): number | null {
    const { catalog } = this.#host;
    const traits = catalog.findModel(modelSlug) && catalog.traitsOf(modelSlug);
    return traits && "audio" in traits ? traits.audio.chunk_bytes : null;
  }

  #downlinkOf(link: DeviceLink, { message, serial, total, sequence }: Transfer): Downlink {
    const { text, bytes, sender_name: senderName } = message;
    if (message.message_type === "text") return { kind: "text", text: text ?? "", senderName, serial };
    const recording = bytes ?? Buffer.alloc(0);
    const chunk = this.#chunkBytes(link) ?? recording.length;
    const part = recording.subarray((sequence - 1) * chunk, sequence * chunk);
    return { kind: "voice_part", senderName, serial, total, sequence, bytes: part };
  }

  async #write(link: DeviceLink, transfer: Transfer): Promise<void> {
    let frames: Buffer[];
    try {
      frames = link.encode(this.#downlinkOf(link, transfer));
    } catch (error) {
      if (!(error instanceof UnsupportedDownlink)) throw error;
      return this.#fail(
        link,
        transfer,
        transfer.message.message_type === "text" ? "device_rejected" : "transcode_failed",
      );
    }
    link.outstandingSerials.add(transfer.serial);
    transfer.writes++;
    transfer.dueMs = Number.POSITIVE_INFINITY;
    if (!(await link.send(frames))) return this.#drop(link);
    transfer.dueMs = this.#host.clock.nowMs() + answerWaitMs;
    if (transfer.sequence < transfer.total || transfer.writes > 1) return;
    await this.#move((tx, now) => markSent(tx, this.#senderOf(link), transfer.message.id, now));
  }

  async #answered(link: DeviceLink, answer: MessageAnswer): Promise<void> {
    const { isAccepted, sequence } = answer;
    const transfer = this.#states.get(link)?.transfer;
    const answered = answeredBy(answer);
    if (!transfer || !answered) return;
    const isExpected =
      "serial" in answered
        ? answered.serial === transfer.serial
        : answered.messageType === transfer.message.message_type;
    if (!isExpected || (sequence !== null && sequence > 0 && sequence !== transfer.sequence)) return;
    if (isAccepted && transfer.sequence < transfer.total) {
      Object.assign(transfer, { sequence: transfer.sequence + 1, writes: 0, refusals: 0 });
      await this.#write(link, transfer);
    } else if (isAccepted) {
      // An answer without a serial may have been that of a command.
      if (await isBeingSent(this.#host.db.point, this.#senderOf(link), transfer.message.id)) return;
      this.#drop(link);
      await this.#next(link);
    } else if (++transfer.refusals < maxRefusals) {
      transfer.writes = 0;
      await this.#write(link, transfer);
    } else await this.#fail(link, transfer, "device_rejected");
  }

  #checkTimes(): void {
    const nowMs = this.#host.clock.nowMs();
    for (const [link, { transfer }] of this.#states) {
      if (!transfer || transfer.dueMs > nowMs) continue;
      transfer.dueMs = Number.POSITIVE_INFINITY;
      this.#then(link, async () => {
        if (this.#states.get(link)?.transfer !== transfer || transfer.dueMs !== Number.POSITIVE_INFINITY) return;
        if (transfer.writes < maxWrites) await this.#write(link, transfer);
        else await this.#fail(link, transfer, "no_ack");
      });
    }
  }

  async #fail(link: DeviceLink, transfer: Transfer, reason: FailureReason): Promise<void> {
    this.#drop(link);
    await this.#move((tx, now) => markFailed(tx, this.#senderOf(link), transfer.message.id, reason, now));
    await this.#next(link);
  }

  #drop(link: DeviceLink): void {
    const state = this.#states.get(link);
    if (!state?.transfer) return;
    link.outstandingSerials.delete(state.transfer.serial);
    state.transfer = undefined;
  }

  async #move(change: (tx: Tx, now: Date) => Promise<OutboundEntry[]>): Promise<void> {
    const { db, clock } = this.#host;
    const outbound = await db.transaction(async (tx) => {
      const now = clock.now();
      const entries = await change(tx, now);
      await appendOutbound(tx, entries, now.getTime());
      return entries;
    });
    this.#outcomes.countOutcomes(outbound);
  }
}

/** Odd sequence numbers: the even ones are those of commands. */
function freeSerial({ protocol, outstandingSerials }: DeviceLink): string {
  const rules = rulesOf(protocol);
  for (;;) {
    const serial = rules.serialOf(2 * randomInt(2 ** 31) + 1);
    if (!outstandingSerials.has(serial)) return serial;
  }
}
