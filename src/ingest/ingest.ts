import { LaneWaker } from "../outbox/lane-wakes.ts";
import { alarmsOnly } from "./alarms-only.ts";
import { type Batch, type Committed, makeBatch, type StaleDevices, storeBatch } from "./batch.ts";
import { BatchClients } from "./batch-clients.ts";
import { type BatchFailure, failureOf, placeOf, reasonOf } from "./batch-failure.ts";
import { BlamedDevices } from "./blamed-devices.ts";
import type { DeviceHold } from "./device-memory.ts";
import { makeIngestMetrics } from "./ingest-metrics.ts";
import type { IngestOptions } from "./ingest-options.ts";
import { keepMemory } from "./kept-memory.ts";
import { OptimisticCommits } from "./optimistic-commits.ts";
import { type Outcome, oldestArrival, type Packet, sizeOf } from "./packet.ts";
import { beginPacket, endPacket, traceAttempt } from "./packet-traces.ts";
import { PacketsApart } from "./packets-apart.ts";
import { keepPoisoned } from "./poison-store.ts";
import { rereadRules } from "./rules/rule-store.ts";
import { packetsForSecondBatch } from "./second-batch.ts";
import { WaitingPackets } from "./waiting-packets.ts";

/**
 * Stores packets durably: as soon as a transaction is done, everything that waits becomes the next one (adaptive batches:
 * the latency of a single insert when idle, the throughput of large batches under load). A packet is settled as
 * stored only after its commit; while the database is away, packets wait and nothing is dropped.
 */
export interface Ingest {
  submit(packet: Packet): void;
  /** Frames and bytes that wait or are being stored. */
  readonly queuedFrames: number;
  readonly queuedBytes: number;
  /** Calls when packets were settled: there may be room again. One listener. */
  onSettled(listener: () => void): void;
  /** Waits until all is settled, at most so long; then what is left is settled as lost. Nothing is to be submitted after it. */
  drain(timeoutMs: number): Promise<void>;
  /** Ends the connections to the database; drain first. */
  close(): Promise<void>;
}

/** Recordings make a transaction long before they are many: 1,000 positions have some 150 KB. */
const batchLimits = { packets: 1000, bytes: 512 * 1024 };
const firstPauseMs = 100;
const maxPauseMs = 5000;
/** While the program fails at every packet, the next attempt may meet one that shows it to be the fault of the others. */
const maxFaultPauseMs = 1000;
/** Packets of blamed devices that are tried before the others come again. */
const maxBlamedPackets = 32;

const isStoring = ({ state }: DeviceHold): boolean => state === "storing" || state === "moved";

/** What one round of the queue shows. */
interface Round {
  /** Packets that were stored in it. */
  stored: number;
  /** Packets that failed alone by a fault of the program. */
  suspects: { packet: Packet; error: unknown }[];
}

export function makeIngest(options: IngestOptions): Ingest {
  return new BatchingIngest(options);
}

class BatchingIngest implements Ingest {
  readonly #options: IngestOptions;
  readonly #metrics: ReturnType<typeof makeIngestMetrics>;
  readonly #waiting = new WaitingPackets(batchLimits);
  queuedFrames = 0;
  queuedBytes = 0;
  #running = 0;
  #latestSize = 0;
  #closed = false;
  readonly #clients: BatchClients;
  readonly #wakes: LaneWaker;
  readonly #optimistic: OptimisticCommits;
  readonly #pauses = new Set<() => void>();
  readonly #blamed = new BlamedDevices();
  readonly #apart: PacketsApart | undefined;
  #faultPauseMs = firstPauseMs;
  #onIdle: (() => void) | undefined;
  #onSettled: () => void = () => undefined;

  constructor(options: IngestOptions) {
    this.#options = options;
    this.#metrics = makeIngestMetrics(options.metrics, this);
    this.#optimistic = new OptimisticCommits(this.#metrics.optimistic);
    const { db, nodes, metrics, log } = options;
    this.#clients = new BatchClients(db, nodes);
    this.#wakes = new LaneWaker(db, log);
    options.waits?.watch(() => this.queuedFrames > 0);
    if (!nodes) return;
    const settle = this.#settleAll.bind(this);
    this.#apart = new PacketsApart({ nodes, metrics, settle, putBack: (packets) => this.#putBack(packets) });
  }

  onSettled(listener: () => void): void {
    this.#onSettled = listener;
  }

  submit(packet: Packet): void {
    if (this.#options.tracer) packet.span = beginPacket(this.#options.tracer, packet);
    this.queuedFrames++;
    this.queuedBytes += sizeOf(packet);
    this.#waiting.add(packet);
    this.#startIfDue();
  }

  #putBack(packets: readonly Packet[]): void {
    this.#waiting.putBack(packets);
    this.#startIfDue();
  }

  #startIfDue(): void {
    if (this.#running === 0 || this.#mayBeginAnother) this.#startSoon();
  }

  /** One transaction more than usual is kept for alarms alone: they do not wait for recordings of others to be written. */
  get #mayBeginAnother(): boolean {
    const { inFlight } = this.#options;
    if (this.#running < inFlight) return this.#deservesSecondBatch;
    return this.#running === inFlight && this.#waiting.hasUrgent;
  }

  /** An alarm does not wait for the transaction that is in progress, where another one may begin. */
  get #deservesSecondBatch(): boolean {
    return this.#fillsSecondBatch || this.#waiting.hasUrgent;
  }

  get #fillsSecondBatch(): boolean {
    return this.#waiting.count >= (this.#options.secondBatchThreshold ?? packetsForSecondBatch(this.#latestSize));
  }

  /** Packets that arrive in the same turn of the event loop share a batch. */
  #startSoon(): void {
    this.#running++;
    setImmediate(() => void this.#run());
  }

  async #run(): Promise<void> {
    for (let packets = this.#take(); packets.length > 0; packets = this.#take()) {
      this.#latestSize = packets.length;
      const current = packets.filter(({ hold }) => hold.state !== "over");
      if (current.length < packets.length) {
        this.#settleAll(
          packets.filter(({ hold }) => hold.state === "over"),
          "stale",
        );
      }
      for (const { hold } of current) hold.state = "storing";
      const fitting = this.#options.takesOnlyAlarms?.() ? this.#deferOthers(current) : current;
      const storable = this.#apart ? await this.#apart.divide(fitting) : fitting;
      if (storable.length > 0) await this.#storeRound(storable);
      for (const { hold } of current) if (isStoring(hold)) hold.state = "idle";
      this.#onSettled();
    }
    this.#running--;
    if (this.#running === 0) this.#onIdle?.();
  }

  /** None: the transaction beside this one takes what comes. */
  #take(): Packet[] {
    if (this.#running <= 1) return this.#waiting.take();
    if (!this.#deservesSecondBatch) return [];
    const isForAlarms = this.#running > this.#options.inFlight || !this.#fillsSecondBatch;
    return this.#waiting.take(isStoring, isForAlarms);
  }

  #deferOthers(packets: readonly Packet[]): Packet[] {
    const fitting = packets.map((packet) => ({ packet, taken: alarmsOnly(packet) }));
    const deferred = fitting.flatMap(({ packet, taken }) => (taken ? [] : [packet]));
    this.#metrics.deferred(deferred.length);
    this.#settleAll(deferred, "deferred");
    return fitting.flatMap(({ taken }) => taken ?? []);
  }

  /** The packets of blamed devices come after the others, and only some of them: the rest waits for its next turn. */
  async #storeRound(packets: readonly Packet[]): Promise<void> {
    const round: Round = { stored: 0, suspects: [] };
    const { clean, blamed } = this.#blamed.divide(packets, this.#options.clock.nowMs());
    if (clean.length > 0) await this.#store(clean, round);
    if (blamed.length > maxBlamedPackets) this.#waiting.putBack(blamed.splice(maxBlamedPackets));
    if (blamed.length > 0) {
      const before = round.stored;
      await this.#store(blamed, round);
      if (round.stored - before === blamed.length) for (const packet of blamed) this.#blamed.clear(packet);
    }
    await this.#judge(round);
  }

  /**
   * A packet at which the program fails is set aside only when it fails again after others were stored. Otherwise the program
   * is to blame: the packets wait unanswered, as in an outage, and are tried again with those that come meanwhile.
   */
  async #judge({ stored, suspects }: Round): Promise<void> {
    if (stored > 0) this.#faultPauseMs = firstPauseMs;
    if (suspects.length === 0) return;
    const { log, clock } = this.#options;
    const packets = suspects.map(({ packet }) => packet);
    for (const packet of packets) this.#blamed.add(packet, clock.nowMs());
    if (stored > 0) {
      for (const { packet } of suspects) {
        const again: Round = { stored: 0, suspects: [] };
        await this.#store([packet], again);
        for (const { error } of again.suspects) await this.#poison(packet, error);
      }
      return;
    }
    if (this.#closed) return this.#settleAll(packets, "lost");
    this.#metrics.faulted();
    const error = suspects[0]?.error;
    log.error(
      { reason: reasonOf(error), at: placeOf(error), packets: packets.length, pauseMs: this.#faultPauseMs },
      "the program failed to store packets; they stay queued and will be retried",
    );
    this.#waiting.putBack(packets);
    await this.#pause(this.#faultPauseMs);
    this.#faultPauseMs = Math.min(this.#faultPauseMs * 2, maxFaultPauseMs);
  }

  /** Returns when every packet is settled or suspected, however long it takes. */
  async #store(packets: readonly Packet[], round: Round): Promise<void> {
    const batch = makeBatch(packets);
    let pauseMs = firstPauseMs;
    for (;;) {
      try {
        this.#commit(batch, await this.#attempt(batch));
        round.stored += packets.length;
        return;
      } catch (error) {
        const failure = failureOf(error);
        if (failure === "stale") return this.#storeWithout(batch, (error as StaleDevices).holds, round);
        if (failure === "data" || failure === "fault") return this.#split(batch, failure, error, round);
        if (this.#closed) return this.#settleAll(batch.packets, "lost");
        if (failure === "again") continue;
        if (batch.pending === undefined && (await this.#storeOthers(batch, error, round))) return;
        this.#metrics.retried();
        this.#options.log.warn(
          { code: reasonOf(error), err: (error as Error).message, packets: packets.length, pauseMs },
          "packets could not be stored; they stay queued and will be retried",
        );
        await this.#pause(pauseMs);
        pauseMs = Math.min(pauseMs * 2, maxPauseMs);
      }
    }
  }

  /** False: no node of a distributed database is to blame for the failure, and all packets are still to be stored. */
  async #storeOthers({ packets }: Batch, error: unknown, round: Round): Promise<boolean> {
    const others = await this.#apart?.isolate(packets, error).catch(() => undefined);
    if (!others) return false;
    if (others.length > 0) await this.#store(others, round);
    return true;
  }

  #attempt(batch: Batch): Promise<Committed> {
    const { tracer } = this.#options;
    return tracer ? traceAttempt(tracer, batch.packets, () => this.#attemptOnce(batch)) : this.#attemptOnce(batch);
  }

  async #attemptOnce(batch: Batch): Promise<Committed> {
    const { clock } = this.#options;
    const startedMs = performance.now();
    await this.#reread(batch);
    return this.#clients.use(async (client, isDistributed) => {
      const options = { ...this.#options, isDistributed, optimistic: this.#optimistic };
      const committed = await storeBatch(client, batch, options, clock.nowMs());
      this.#metrics.committed(batch.packets.length, committed, (performance.now() - startedMs) / 1000);
      return committed;
    });
  }

  async #reread(batch: Batch): Promise<void> {
    const { db, clock } = this.#options;
    const moved = new Set(batch.packets.flatMap(({ hold }) => (hold.state === "moved" ? [hold] : [])));
    if (moved.size === 0) return;
    await rereadRules(db, [...moved], clock.nowMs());
    this.#metrics.reread(moved.size);
  }

  #commit(batch: Batch, { memories, refused, pushed }: Committed): void {
    for (const [hold, memory] of memories) keepMemory(hold, memory);
    for (const { packet } of refused) packet.isRefused = true;
    this.#options.waits?.note(this.#options.clock.nowMs() - oldestArrival(batch.packets));
    this.#settleAll(batch.packets, "stored");
    this.#wakes.wake(pushed);
  }

  async #storeWithout(batch: Batch, stale: ReadonlySet<DeviceHold>, round: Round): Promise<void> {
    const [stalePackets, rest] = [
      batch.packets.filter(({ hold }) => stale.has(hold)),
      batch.packets.filter(({ hold }) => !stale.has(hold)),
    ];
    this.#settleAll(stalePackets, "stale");
    if (rest.length > 0) await this.#store(rest, round);
  }

  /** One packet to blame never sinks the others: halves are tried until it is alone. */
  async #split({ packets }: Batch, failure: BatchFailure, error: unknown, round: Round): Promise<void> {
    const [packet] = packets;
    if (packet === undefined) return;
    if (packets.length > 1) {
      const middle = Math.ceil(packets.length / 2);
      await this.#store(packets.slice(0, middle), round);
      await this.#store(packets.slice(middle), round);
    } else if (failure === "fault") round.suspects.push({ packet, error });
    else await this.#poison(packet, error);
  }

  /** Answered all the same: the bytes are kept, and the device would send them for ever. */
  async #poison(packet: Packet, cause: unknown): Promise<void> {
    const { db, log, clock } = this.#options;
    const { hold, protocol } = packet;
    const reason = reasonOf(cause);
    this.#blamed.add(packet, clock.nowMs());
    let pauseMs = firstPauseMs;
    for (;;) {
      try {
        const alarms = await db.transaction((tx) => keepPoisoned(tx, packet, reason, clock.nowMs()));
        hold.memory = { ...hold.memory, alarms };
        break;
      } catch (error) {
        if (this.#closed) return this.#settleAll([packet], "lost");
        log.warn({ code: reasonOf(error) }, "a poisoned packet could not be set aside; retrying");
        await this.#pause(pauseMs);
        pauseMs = Math.min(pauseMs * 2, maxPauseMs);
      }
    }
    this.#metrics.poisoned(protocol);
    log.warn(
      { device: hold.device.id, protocol, reason, at: placeOf(cause) },
      "a packet could not be stored and was set aside",
    );
    this.#settleAll([packet], "stored");
  }

  #settleAll(packets: readonly Packet[], outcome: Outcome): void {
    for (const packet of packets) {
      this.queuedFrames--;
      this.queuedBytes -= sizeOf(packet);
      packet.owner.packetSettled(packet, outcome);
      if (packet.span) endPacket(packet.span, outcome);
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#pauses.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#pauses.add(end);
    });
  }

  async drain(timeoutMs: number): Promise<void> {
    if (this.#running > 0) {
      const idle = new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, timeoutMs);
      });
      await Promise.race([idle, limit]);
      clearTimeout(timer);
      this.#closed = true;
      for (const end of this.#pauses) end();
      this.#clients.destroyBusy();
      this.#settleAll(this.#waiting.takeAll(), "lost");
    }
    this.#closed = true;
    this.#settleAll(this.#apart?.close() ?? [], "lost");
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#clients.close();
  }
}
