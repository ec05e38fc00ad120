import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../db/database.ts";
import type { Listener } from "../db/listener.ts";
import type { Clock } from "../lib/clock.ts";
import { newUuid } from "../lib/ids.ts";
import { repeat } from "../lib/lifecycle.ts";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { RecentWaits } from "../lib/recent-waits.ts";
import type { SecretBox } from "../lib/secret-box.ts";
import { identityChannel } from "../oauth/identity-changes.ts";
import { outboundChannel } from "../outbox/lane-wakes.ts";
import type { Tracer } from "../tracing/tracer.ts";
import { redriveChannel } from "./dead-letter-store.ts";
import { DeliveryLane } from "./delivery-lane.ts";
import { makeDeliveryMetrics } from "./delivery-metrics.ts";
import { maxAttempts } from "./delivery-policy.ts";
import { DeliveryRecorder, type RecordedLane } from "./delivery-recorder.ts";
import { Slots } from "./delivery-slots.ts";
import { deleteEndedDeliveries, readOpen } from "./delivery-store.ts";
import { DrainRate } from "./drain-rate.ts";
import type { LaneParts } from "./lane-parts.ts";
import {
  type ClaimedLane,
  claimLanes,
  claimWaitingLanes,
  type Lease,
  readSettings,
  releaseLanes,
  renewLanes,
} from "./lane-store.ts";
import { LogGrowth } from "./log-growth.ts";
import { makeLine } from "./name-lookup.ts";
import { shareTime } from "./share-time.ts";
import { makeWebhookClient, type WebhookClientOptions } from "./webhook-client.ts";

export interface WebhookPushOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  /** Not started yet: channels are named here. */
  listener: Listener;
  metrics: Metrics;
  /** Opens what deliveries are signed with. */
  secrets: SecretBox;
  waitsMs: readonly number[];
  timeoutMs: number;
  allowCidrs: readonly string[];
  extraCa?: string | undefined;
  resolve?: WebhookClientOptions["resolve"];
  maxInFlight?: number;
  maxInFlightPerLane?: number;
  tickMs?: number;
  leaseMs?: number;
  /** Under which the leases stand; one of its own unless given. */
  owner?: string;
  /** Of packets, in a process that answers devices too: they go before late rows. */
  packetWaits?: RecentWaits | undefined;
  tracer?: Tracer | undefined;
}

export interface WebhookPush {
  /** Begins nothing more, gives what is in progress a few seconds, and hands the lanes over. */
  close(): Promise<void>;
}

const readsAtOnce = 4;
const claimsAtOnce = 200;
const idleLimitMs = 10_000;
const closeGraceMs = 5000;

/**
 * Pushes the outbound log to webhooks. A lane is served by the one process that holds its lease; a notification wakes it, a
 * sweep guarantees. Any number of processes may run one of these.
 */
export const startWebhookPush = (options: WebhookPushOptions): WebhookPush => new Push(options);

class Push implements WebhookPush {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #owner: string;
  readonly #leaseMs: number;
  readonly #lanes = new Map<string, DeliveryLane>();
  /** Lanes that end, until their lease is given back. */
  readonly #leaving = new Set<string>();
  readonly #wanted = new Set<string>();
  /** Lanes that others serve, and how long they may go unchecked. */
  readonly #others = new Map<string, number>();
  readonly #parts: LaneParts;
  readonly #slots: Slots;
  readonly #recorder: DeliveryRecorder;
  readonly #drain: DrainRate;
  readonly #growth = new LogGrowth();
  /** Attempts that are made again. */
  #failed = 0;
  /** What was counted at the last look. */
  #counted = { atMs: performance.now(), begunNew: 0, failed: 0 };
  readonly #stopTicking: () => Promise<void>;
  readonly #stopSharing: () => void;
  #claiming: Promise<void> | undefined;
  #refreshing: Promise<void> | undefined;
  #isRefreshWanted = false;
  #isClosing = false;
  #ticks = 0;

  constructor(options: WebhookPushOptions) {
    const { db, clock, log, listener, metrics, waitsMs, timeoutMs, allowCidrs, extraCa, resolve } = options;
    const { maxInFlight = 1024, maxInFlightPerLane = 32, tickMs = 1000, leaseMs = 5000 } = options;
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
    this.#leaseMs = leaseMs;
    this.#owner = options.owner ?? newUuid();
    this.#slots = new Slots(maxInFlight);
    this.#drain = new DrainRate(maxAttempts(waitsMs));
    const onFree = (): void => this.#pumpAll();
    this.#recorder = new DeliveryRecorder({ db, clock, log, owner: this.#owner, onFree });
    this.#parts = {
      db,
      clock,
      log,
      secrets: options.secrets,
      recorder: this.#recorder,
      slots: this.#slots,
      reads: makeLine(readsAtOnce),
      openTarget: makeWebhookClient({
        timeoutMs,
        allowCidrs,
        extraCa,
        connections: maxInFlightPerLane,
        ...(resolve ? { resolve } : {}),
      }),
      metrics: makeDeliveryMetrics(metrics, {
        inFlight: () => this.#slots.taken,
        lanes: () => this.#lanes.size,
        lags: () => this.#lags(),
      }),
      waitsMs,
      timeoutMs,
      maxInFlight: maxInFlightPerLane,
      tracer: options.tracer,
      onRetry: () => {
        this.#failed++;
      },
      onClosed: (lane) => this.#forget(lane),
    };
    listener.on(outboundChannel, (integrationId) => this.#wake(integrationId));
    listener.on(redriveChannel, (integrationId) => {
      this.#lanes.get(integrationId)?.wakeRetries();
      this.#wake(integrationId);
    });
    listener.on(identityChannel, (what) => {
      if (what === "all") this.#refreshAll();
    });
    // Notifications may have been lost with the connection.
    listener.onReset(() => this.#refreshAll());
    this.#stopTicking = repeat("webhook lanes", tickMs, log, () => this.#tick());
    const { packetWaits } = options;
    this.#stopSharing = shareTime({ slots: this.#slots, max: maxInFlight, drain: this.#drain, packetWaits });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#stopSharing();
    await this.#stopTicking();
    await this.#claiming;
    const ids = [...this.#lanes.keys()];
    const lanes = [...this.#lanes.values()];
    for (const lane of lanes) lane.stop();
    for (let waitedMs = 0; waitedMs < closeGraceMs && lanes.some(({ isBusy }) => isBusy); waitedMs += 20)
      await sleep(20);
    await this.#recorder.flush();
    for (const lane of lanes) lane.close();
    this.#recorder.close();
    await releaseLanes(this.#db, ids, this.#owner).catch(() => undefined);
  }

  #lease(): Lease {
    const now = this.#clock.now();
    return { owner: this.#owner, now, until: new Date(now.getTime() + this.#leaseMs) };
  }

  #wake(integrationId: string): void {
    if (this.#isClosing) return;
    const lane = this.#lanes.get(integrationId);
    if (lane) {
      lane.wake();
      return;
    }
    if (this.#clock.nowMs() < (this.#others.get(integrationId) ?? 0) || this.#slots.isFull) return;
    this.#wanted.add(integrationId);
    this.#claimWanted();
  }

  #claimWanted(): void {
    this.#claiming ??= this.#claimNamed()
      .catch((error: unknown) => this.#log.debug({ err: error }, "webhook lanes could not be claimed"))
      .finally(() => {
        this.#claiming = undefined;
        const isMoreWanted = [...this.#wanted].some((id) => !this.#leaving.has(id));
        if (isMoreWanted && !this.#isClosing) this.#claimWanted();
      });
  }

  async #claimNamed(): Promise<void> {
    const ids = [...this.#wanted].filter((id) => !this.#leaving.has(id));
    if (ids.length === 0) return;
    for (const id of ids) this.#wanted.delete(id);
    const lease = this.#lease();
    const claimed = await claimLanes(this.#db, ids, lease);
    for (const id of ids) this.#others.set(id, lease.until.getTime());
    await this.#serve(claimed);
  }

  async #serve(claimed: readonly ClaimedLane[]): Promise<void> {
    if (claimed.length === 0) return;
    const settings = await readSettings(
      this.#db,
      claimed.map(({ integrationId }) => integrationId),
      this.#parts.secrets,
    );
    const byId = new Map(settings.map((one) => [one.integrationId, one]));
    for (const lane of claimed) {
      const { integrationId } = lane;
      this.#others.delete(integrationId);
      const integration = byId.get(integrationId);
      if (!integration || this.#lanes.has(integrationId)) continue;
      const deliveryLane = new DeliveryLane(lane, integration, this.#parts);
      this.#lanes.set(integrationId, deliveryLane);
      deliveryLane.refresh(integration);
      deliveryLane.pump();
    }
  }

  async #tick(): Promise<void> {
    const lanes = [...this.#lanes.values()];
    if (lanes.length > 0) {
      const ids = lanes.map(({ integrationId }) => integrationId);
      const kept = await renewLanes(this.#db, ids, this.#lease());
      // Not those that were opened meanwhile.
      for (const lane of lanes) if (!kept.has(lane.integrationId)) lane.onLost();
    }
    if (!this.#slots.isFull) await this.#serve(await claimWaitingLanes(this.#db, claimsAtOnce, this.#lease()));
    const nowMs = this.#clock.nowMs();
    for (const lane of this.#lanes.values()) if (lane.idleMs(nowMs) > idleLimitMs) lane.close();
    await this.#countArrivals();
    const turn = this.#ticks++ % 4;
    if (turn % 2 === 0) this.#refreshAll();
    if (turn === 1) await this.#countOpen();
    if (turn === 3) await deleteEndedDeliveries(this.#db);
    if (turn === 3) for (const [id, untilMs] of this.#others) if (untilMs < nowMs) this.#others.delete(id);
  }

  /** Counts what comes beside the backlogs, which must be less than what is sent. */
  async #countArrivals(): Promise<void> {
    const behind = [...this.#lanes.values()].filter(({ isBehind }) => isBehind).map((lane) => lane.integrationId);
    const [before, counted] = [
      this.#counted,
      { atMs: performance.now(), begunNew: this.#slots.begun.new, failed: this.#failed },
    ];
    const appended = await this.#growth.measure(this.#db, behind);
    this.#counted = counted;
    const [begunNew, failed] = [counted.begunNew - before.begunNew, counted.failed - before.failed];
    this.#drain.note({ durationMs: counted.atMs - before.atMs, appended, begunNew, failed });
  }

  async #countOpen(): Promise<void> {
    const ids = [...this.#lanes.values()].filter(({ open }) => open > 0).map(({ integrationId }) => integrationId);
    if (ids.length === 0) return;
    for (const { integrationId, count, oldest } of await readOpen(this.#db, ids)) {
      this.#lanes.get(integrationId)?.noteOpen(count, oldest);
    }
  }

  /** Integrations have changed, or may have. */
  #refreshAll(): void {
    this.#isRefreshWanted = true;
    this.#refreshing ??= this.#refreshLanes()
      .catch((error: unknown) => this.#log.debug({ err: error }, "settings of webhook lanes could not be read"))
      .finally(() => {
        this.#refreshing = undefined;
      });
  }

  async #refreshLanes(): Promise<void> {
    while (this.#isRefreshWanted && this.#lanes.size > 0 && !this.#isClosing) {
      this.#isRefreshWanted = false;
      const lanes = [...this.#lanes.values()];
      const settings = await readSettings(
        this.#db,
        lanes.map(({ integrationId }) => integrationId),
        this.#parts.secrets,
      );
      const byId = new Map(settings.map((one) => [one.integrationId, one]));
      for (const lane of lanes) {
        lane.refresh(byId.get(lane.integrationId));
        lane.pump();
      }
    }
  }

  #pumpAll(): void {
    for (const lane of this.#lanes.values()) lane.pump();
  }

  /** What the lane has settled goes on record before somebody else may take it. */
  #forget(lane: RecordedLane): void {
    const id = lane.integrationId;
    if (this.#lanes.get(id) !== lane) return;
    this.#lanes.delete(id);
    if (this.#isClosing) return;
    this.#leaving.add(id);
    this.#recorder
      .flush()
      .then(() => releaseLanes(this.#db, [id], this.#owner))
      .catch((error: unknown) => this.#log.debug({ err: error }, "a webhook lane could not be released"))
      .finally(() => {
        this.#leaving.delete(id);
        if (this.#wanted.has(id)) this.#claimWanted();
      });
  }

  *#lags(): Iterable<readonly [{ integration: string }, number]> {
    const nowMs = this.#clock.nowMs();
    for (const lane of this.#lanes.values()) {
      const oldestMs = lane.oldestMs();
      if (oldestMs !== undefined) {
        yield [{ integration: lane.integrationId }, Math.max(0, (nowMs - oldestMs) / 1000)];
      }
    }
  }
}
