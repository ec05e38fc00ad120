import { serviceUnavailable } from "../lib/errors.ts";
import { FairSlots } from "../lib/fair-slots.ts";
import { AudioChild, type ChildLimits } from "./audio-child.ts";
import type { AudioJob, AudioResult } from "./audio-jobs.ts";

export interface ProcessPoolOptions extends Partial<ChildLimits> {
  processes?: number;
  /** Jobs that may wait, in all and of one organization; one more is refused. */
  maxWaiting?: number;
  maxWaitingPerTenant?: number;
  /** A process without work ends after this time. */
  idleMs?: number;
}

/**
 * Processes for work on files that may be made to do harm: it would hold up the event loop, and only a process has a limit on all
 * of its memory, buffers and WebAssembly included. One is started with its first job; one that hangs, dies or needs too
 * much memory costs its own job and nothing else. A tenant has one process at a time, and tenants take turns;
 * an organization counts as two, for its uploads and for its speech, so that one process is always left to others.
 */
export class ProcessPool {
  readonly #slots: FairSlots;
  readonly #limits: ChildLimits;
  readonly #idleMs: number;
  readonly #idle: { child: AudioChild; timer: NodeJS.Timeout }[] = [];
  readonly #children = new Set<AudioChild>();
  #isClosed = false;

  constructor(options: ProcessPoolOptions = {}) {
    const { processes = 3, maxWaiting = 64, maxWaitingPerTenant = 8, idleMs = 60_000 } = options;
    const { timeoutMs = 20_000, memoryMb = 512 } = options;
    this.#slots = new FairSlots({ slots: processes, slotsPerTenant: 1, maxWaiting, maxWaitingPerTenant });
    this.#limits = { timeoutMs, memoryMb };
    this.#idleMs = idleMs;
  }

  get waiting(): number {
    return this.#slots.waiting;
  }

  run(tenant: string, job: AudioJob): Promise<AudioResult> {
    if (this.#isClosed) return Promise.reject(serviceUnavailable());
    return this.#slots.run(tenant, async () => {
      if (this.#isClosed) throw serviceUnavailable();
      const child = this.#takeChild();
      try {
        return await child.perform(job);
      } finally {
        this.#giveBack(child);
      }
    });
  }

  #takeChild(): AudioChild {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      clearTimeout(idle.timer);
      if (!idle.child.isOver) return idle.child;
      this.#children.delete(idle.child);
    }
    const child = new AudioChild(this.#limits);
    this.#children.add(child);
    return child;
  }

  #giveBack(child: AudioChild): void {
    if (child.isOver || child.isWorn || this.#isClosed) {
      this.#end(child);
      return;
    }
    const timer = setTimeout(() => {
      this.#idle.splice(
        this.#idle.findIndex((idle) => idle.child === child),
        1,
      );
      this.#end(child);
    }, this.#idleMs);
    timer.unref();
    this.#idle.push({ child, timer });
  }

  #end(child: AudioChild): void {
    this.#children.delete(child);
    void child.end();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#slots.clear(serviceUnavailable());
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer);
    await Promise.all([...this.#children].map((child) => child.end()));
  }
}
