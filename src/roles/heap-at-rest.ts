import { type EventLoopUtilization, performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Gives memory back once the process is at rest. A storm of work, as when a fleet logs in at once, leaves garbage in the old
 * generation, and V8 collects that only when more is allocated, which a process at rest does not do. Here a collection is begun as
 * V8 begins its own under load: it marks beside the program, so that what arrives meanwhile is served, and only its end is a pause.
 * Pages can be emptied only when a collection before has told what is left in them, so a series of a few follows one another.
 */
export interface HeapAtRestOptions {
  everyMs: number;
  /** Share of the time since the last look in which the process worked: with more it is not at rest. */
  restUtilization: number;
  /** The heap is collected when it has grown by this factor and these bytes since the last series. */
  growthFactor: number;
  growthBytes: number;
  maxCollections: number;
  /** A series goes on while this share of the heap is empty. */
  emptyShare: number;
  /** From the end of a series to the next. */
  minPauseMs: number;
}

export interface Heap {
  /** What it has of the system, and what is in use of it. */
  size(): { totalBytes: number; usedBytes: number };
  /** Returns at once; the collection goes on beside the program, for less than half a second as a rule. */
  beginCollection(): void;
}

const defaultOptions: HeapAtRestOptions = {
  everyMs: 500,
  restUtilization: 0.25,
  growthFactor: 1.15,
  growthBytes: 8 * 1024 * 1024,
  maxCollections: 4,
  emptyShare: 0.2,
  minPauseMs: 10_000,
};

export class HeapAtRest {
  readonly #heap: Heap;
  readonly #options: HeapAtRestOptions;
  /** After the last series. */
  #settledBytes = 0;
  #settledAtMs = Number.NEGATIVE_INFINITY;
  /** Collections begun in this series; 0: none is in progress. */
  #begun = 0;

  constructor(heap: Heap, options: Partial<HeapAtRestOptions> = {}) {
    this.#heap = heap;
    this.#options = { ...defaultOptions, ...options };
  }

  /** To be called every so often, with the share of the time since the last call in which the process worked. */
  look(utilization: number, nowMs: number): void {
    // Also of a collection itself.
    if (utilization > this.#options.restUtilization) return;
    const { totalBytes, usedBytes } = this.#heap.size();
    if (this.#begun === 0 ? this.#isDue(totalBytes, nowMs) : this.#goesOn(totalBytes, usedBytes)) {
      this.#begun++;
      this.#heap.beginCollection();
    } else if (this.#begun > 0) {
      this.#begun = 0;
      this.#settledBytes = totalBytes;
      this.#settledAtMs = nowMs;
    }
  }

  #isDue(totalBytes: number, nowMs: number): boolean {
    const { growthFactor, growthBytes, minPauseMs } = this.#options;
    if (nowMs - this.#settledAtMs < minPauseMs) return false;
    return totalBytes > Math.max(this.#settledBytes * growthFactor, this.#settledBytes + growthBytes);
  }

  #goesOn(totalBytes: number, usedBytes: number): boolean {
    const { maxCollections, emptyShare } = this.#options;
    return this.#begun < maxCollections && totalBytes - usedBytes > totalBytes * emptyShare;
  }
}

/** Looks until it is stopped. */
export function keepHeapSmall(): () => void {
  const atRest = new HeapAtRest(v8Heap());
  let before: EventLoopUtilization = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    atRest.look(performance.eventLoopUtilization(now, before).utilization, performance.now());
    before = now;
  }, defaultOptions.everyMs).unref();
  return () => clearInterval(timer);
}

/**
 * V8 has no call for a collection that marks beside the program. Two of its flags, set for the moment of a collection of the young
 * generation (a few milliseconds), make it begin one: the first says that it is due, the second that it is to save memory.
 */
const flagsOfBeginning = ["stress-incremental-marking", "optimize-for-size"];

export function v8Heap(): Heap {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: { type: "minor" }) => void;
  setFlagsFromString("--no-expose-gc");
  return {
    size: () => {
      const { total_heap_size: totalBytes, used_heap_size: usedBytes } = getHeapStatistics();
      return { totalBytes, usedBytes };
    },
    beginCollection: () => {
      for (const flag of flagsOfBeginning) setFlagsFromString(`--${flag}`);
      collect({ type: "minor" });
      for (const flag of flagsOfBeginning) setFlagsFromString(`--no-${flag}`);
    },
  };
}
