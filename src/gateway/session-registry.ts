import type { Database } from "../db/database.ts";
import type { Listener } from "../db/listener.ts";
import type { Clock } from "../lib/clock.ts";
import { repeat } from "../lib/lifecycle.ts";
import type { Logger } from "../lib/logger.ts";
import {
  type ClaimedSession,
  claimSessions,
  downlinkChannel,
  endSessions,
  gatewayChannel,
  removeNode,
  renewNode,
  reopenSessions,
  type SessionClaim,
} from "../resources/devices/device-sessions.ts";

const heartbeatMs = 5000;
const leaseMs = 3 * heartbeatMs;
const maxClaims = 500;
const maxEnded = 50_000;

export interface SessionRegistryOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  listener: Listener;
  nodeId: string;
  /** Those of the connections that are open here. */
  openSessions(): { deviceId: string; epoch: number }[];
  /** Another process, or a change of the device, has raised the epoch. */
  onOvertaken(deviceId: string, epoch: number): void;
  /** Something was written for a device that this process holds, or did. */
  onWake(deviceId: string): void;
}

interface WaitingClaim {
  claim: SessionClaim;
  resolve(session: ClaimedSession): void;
  reject(error: unknown): void;
}

/**
 * This process's part in the table of sessions. Claims that come together are one transaction, so that a fleet that reconnects
 * at once is a few statements; ended sessions are written a second later.
 */
export class SessionRegistry {
  readonly #options: SessionRegistryOptions;
  #waiting: WaitingClaim[] = [];
  #isClaiming = false;
  #ended: { deviceId: string; epoch: number }[] = [];
  #stops: (() => Promise<void>)[] = [];

  constructor(options: SessionRegistryOptions) {
    this.#options = options;
    options.listener.on(gatewayChannel(options.nodeId), (payload) => {
      const [deviceId = "", epoch] = payload.split(" ");
      options.onOvertaken(deviceId, Number(epoch));
    });
    options.listener.on(downlinkChannel(options.nodeId), options.onWake);
  }

  async start(): Promise<void> {
    const { log } = this.#options;
    await this.#renew();
    this.#stops = [
      repeat("gateway heartbeat", heartbeatMs, log, () => this.#renew()),
      repeat("ended sessions", 1000, log, () => this.#writeEnded()),
    ];
  }

  claim(claim: SessionClaim): Promise<ClaimedSession> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ claim, resolve, reject });
      if (!this.#isClaiming) void this.#claimAll();
    });
  }

  /** Forgotten when the database is away for long: then the lease of the process or a later session ends them. */
  end(deviceId: string, epoch: number): void {
    if (this.#ended.length < maxEnded) this.#ended.push({ deviceId, epoch });
  }

  async #claimAll(): Promise<void> {
    const { db, nodeId, clock } = this.#options;
    this.#isClaiming = true;
    while (this.#waiting.length > 0) {
      const batch = this.#takeClaims();
      const claims = [...batch.values()].map(({ claim }) => claim);
      try {
        const sessions = await claimSessions(db, nodeId, claims, clock.now());
        for (const session of sessions) batch.get(session.device_id)?.resolve(session);
      } catch (error) {
        for (const { reject } of batch.values()) reject(error);
      }
    }
    this.#isClaiming = false;
  }

  /** A device at most once: a second connection of it claims in the next round, and wins. */
  #takeClaims(): Map<string, WaitingClaim> {
    const batch = new Map<string, WaitingClaim>();
    const kept: WaitingClaim[] = [];
    for (const waiting of this.#waiting) {
      const { deviceId } = waiting.claim;
      if (batch.size < maxClaims && !batch.has(deviceId)) batch.set(deviceId, waiting);
      else kept.push(waiting);
    }
    this.#waiting = kept;
    return batch;
  }

  async #writeEnded(): Promise<void> {
    const ended = this.#ended;
    if (ended.length === 0) return;
    // Those that end while these are written go into a list of their own.
    this.#ended = [];
    try {
      await endSessions(this.#options.db, ended, this.#options.clock.now());
    } catch (error) {
      this.#ended = [...ended, ...this.#ended].slice(0, maxEnded);
      throw error;
    }
  }

  /** A process that could not renew in time, as when the database was away, may have been taken for dead. */
  async #renew(): Promise<void> {
    const { db, nodeId, clock, openSessions } = this.#options;
    if (await renewNode(db, nodeId, clock.now(), new Date(clock.nowMs() + leaseMs))) return;
    const sessions = openSessions();
    if (sessions.length === 0) return;
    await reopenSessions(db, nodeId, sessions);
    const open = new Set(openSessions().map(({ deviceId, epoch }) => `${deviceId} ${epoch}`));
    for (const { deviceId, epoch } of sessions) if (!open.has(`${deviceId} ${epoch}`)) this.end(deviceId, epoch);
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) await stop();
    await removeNode(this.#options.db, this.#options.nodeId, this.#options.clock.now());
  }
}
