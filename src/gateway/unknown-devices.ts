import type { Db } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import { repeat } from "../lib/lifecycle.ts";
import type { Logger } from "../lib/logger.ts";
import {
  countUnknownDevices,
  saveThrottledNetworks,
  type ThrottledNetwork,
  type UnknownDevice,
} from "../resources/devices/unknown-device-store.ts";

const maxEntries = 10_000;
const maxIdLength = 40;
const flushEveryMs = 1000;

/** Counts refused ids in memory and adds them to the table about once a second; a flood costs one statement, not one each. */
export class UnknownDevices {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #stop: () => Promise<void>;
  #counts = new Map<string, UnknownDevice>();
  #throttled = new Map<string, ThrottledNetwork>();

  constructor(db: Db, clock: Clock, log: Logger) {
    this.#db = db;
    this.#clock = clock;
    this.#stop = repeat("unknown devices", flushEveryMs, log, () => this.#flush());
  }

  add(wireId: string, protocol: string, remoteAddr: string): void {
    // The id is whatever a stranger sent.
    const imei = wireId.replace(/[^\x20-\x7e]/g, "?").slice(0, maxIdLength);
    const key = `${imei} ${protocol}`;
    const now = this.#clock.now();
    const known = this.#counts.get(key);
    if (known) {
      known.count++;
      known.remote_addr = remoteAddr;
      known.last_seen_at = now;
    } else if (this.#counts.size < maxEntries) {
      this.#counts.set(key, {
        imei,
        protocol,
        remote_addr: remoteAddr,
        count: 1,
        first_seen_at: now,
        last_seen_at: now,
      });
    }
  }

  throttled(network: string, forMs: number): void {
    if (this.#throttled.size >= maxEntries) return;
    this.#throttled.set(network, { network, throttled_until: new Date(this.#clock.nowMs() + forMs) });
  }

  async #flush(): Promise<void> {
    if (this.#throttled.size > 0) {
      const networks = [...this.#throttled.values()];
      this.#throttled = new Map();
      await saveThrottledNetworks(this.#db, networks);
    }
    if (this.#counts.size === 0) return;
    const rows = [...this.#counts.values()];
    this.#counts = new Map();
    await countUnknownDevices(this.#db, rows);
  }

  async close(): Promise<void> {
    await this.#stop();
    await this.#flush();
  }
}
