import { serviceUnavailable, tooBusy } from "./errors.ts";

export interface FairSlotsOptions {
  /** Pieces of work that run at a time. */
  slots: number;
  /** Of one tenant; below `slots`, so that the others always find room. */
  slotsPerTenant: number;
  /** Pieces of work that may wait, in all and of one tenant. */
  maxWaiting: number;
  maxWaitingPerTenant: number;
  /** Work that waited this long is refused. */
  maxWaitMs?: number;
}

type Release = () => void;

interface Waiter {
  start(release: Release): void;
  refuse(error: Error): void;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Slots that tenants share. A tenant has its share and no more, and tenants that wait take turns, so that many pieces of work
 * of one delay nobody else. Work beyond the share of a tenant is refused with `too_busy`, work beyond what all may leave
 * waiting with `service_unavailable`.
 */
export class FairSlots {
  readonly #options: FairSlotsOptions;
  readonly #running = new Map<string, number>();
  /** In the order of turns: a tenant that was served goes to the end. */
  readonly #waiting = new Map<string, Waiter[]>();
  #runningInAll = 0;
  #waitingInAll = 0;

  constructor(options: FairSlotsOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waitingInAll;
  }

  async run<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    const release = this.take(tenant) ?? (await this.wait(tenant));
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** A free slot, to be given back once; undefined: none is free now. */
  take(tenant: string): Release | undefined {
    return this.#canStart(tenant) ? this.#start(tenant) : undefined;
  }

  /** Waits for the turn of the tenant. */
  wait(tenant: string): Promise<Release> {
    const { maxWaiting, maxWaitingPerTenant, maxWaitMs } = this.#options;
    const own = this.#waiting.get(tenant) ?? [];
    if (own.length >= maxWaitingPerTenant) return Promise.reject(tooBusy());
    if (this.#waitingInAll >= maxWaiting) return Promise.reject(serviceUnavailable());
    return new Promise((start, refuse) => {
      const waiter: Waiter = { start, refuse, timer: undefined };
      if (maxWaitMs !== undefined) waiter.timer = setTimeout(() => this.#expire(tenant, waiter), maxWaitMs);
      own.push(waiter);
      this.#waiting.set(tenant, own);
      this.#waitingInAll++;
    });
  }

  /** Refuses everything that waits. */
  clear(error: Error): void {
    for (const waiters of this.#waiting.values()) {
      for (const { timer, refuse } of waiters) {
        clearTimeout(timer);
        refuse(error);
      }
    }
    this.#waiting.clear();
    this.#waitingInAll = 0;
  }

  #canStart(tenant: string): boolean {
    const { slots, slotsPerTenant } = this.#options;
    return this.#runningInAll < slots && (this.#running.get(tenant) ?? 0) < slotsPerTenant;
  }

  #start(tenant: string): Release {
    this.#runningInAll++;
    this.#running.set(tenant, (this.#running.get(tenant) ?? 0) + 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#runningInAll--;
      const left = (this.#running.get(tenant) ?? 1) - 1;
      if (left > 0) this.#running.set(tenant, left);
      else this.#running.delete(tenant);
      this.#startNext();
    };
  }

  #startNext(): void {
    for (const [tenant, waiters] of this.#waiting) {
      if (!this.#canStart(tenant)) continue;
      const waiter = waiters.shift() as Waiter;
      this.#waiting.delete(tenant);
      if (waiters.length > 0) this.#waiting.set(tenant, waiters);
      this.#waitingInAll--;
      clearTimeout(waiter.timer);
      waiter.start(this.#start(tenant));
      return;
    }
  }

  /** A tenant whose own work is in the way has exceeded its share; one that waited for others has not. */
  #expire(tenant: string, waiter: Waiter): void {
    const waiters = this.#waiting.get(tenant) ?? [];
    waiters.splice(waiters.indexOf(waiter), 1);
    if (waiters.length === 0) this.#waiting.delete(tenant);
    this.#waitingInAll--;
    waiter.refuse(this.#running.has(tenant) ? tooBusy() : serviceUnavailable());
  }
}
