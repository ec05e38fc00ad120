import { type EventLoopUtilization, performance } from "node:perf_hooks";
import { getHeapSpaceStatistics, type HeapSpaceInfo, setFlagsFromString } from "node:v8";
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
  /** The old generation is collected when it has grown by this factor and these bytes since the last series. */
  growthFactor: number;
  growthBytes: number;
  maxCollections: number;
  /** A series goes on while this share of the old generation is empty. */
  emptyShare: number;
  /** From the end of a series to the next. */
  minPauseMs: number;
  /** The same after one that gave nothing back: what has grown is in use. */
  vainPauseMs: number;
  /** No pause holds up a series when the old generation has grown by this factor. */
  stormFactor: number;
}

export interface Heap {
  /** What its old generation has of the system, and what is in use of it. */
  size(): { totalBytes: number; usedBytes: number };
  /** Returns at once; the collection goes on beside the program, for less than half a second as a rule. */
  beginCollection(): void;
}

const defaultOptions: HeapAtRestOptions = {
  everyMs: 500,
  restUtilization: 0.05,
  growthFactor: 1.15,
  growthBytes: 16 * 1024 * 1024,
  maxCollections: 4,
  emptyShare: 0.2,
  minPauseMs: 2000,
  vainPauseMs: 60_000,
  stormFactor: 1.5,
};

export class HeapAtRest {
  readonly #heap: Heap;
  readonly #options: HeapAtRestOptions;
  /** The smallest size since the last series, which the next growth is measured from. */
  #settledBytes = 0;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  /** Collections begun in this series; 0: none is in progress. */
  #begun = 0;
  /** Before this series, and at the last look at it. */
  #grownBytes = 0;
  #seenBytes = 0;
  #isInterrupted = false;

  constructor(heap: Heap, options: Partial<HeapAtRestOptions> = {}) {
    this.#heap = heap;
    this.#options = { ...defaultOptions, ...options };
  }

  /** To be called every so often, with the share of the time since the last call in which the process worked. */
  look(utilization: number, nowMs: number): void {
    // A collection can be such work itself.
    if (utilization > this.#options.restUtilization) {
      this.#isInterrupted = this.#begun > 0;
      return;
    }
    const { totalBytes, usedBytes } = this.#heap.size();
    if (this.#isInterrupted) this.#beginAnewAfterWork(totalBytes);
    if (this.#begun === 0) this.#settledBytes = Math.min(this.#settledBytes, totalBytes);
    if (this.#begun === 0 ? this.#isDue(totalBytes, nowMs) : this.#goesOn(totalBytes, usedBytes)) {
      if (this.#begun === 0) this.#grownBytes = totalBytes;
      this.#begun++;
      this.#seenBytes = totalBytes;
      this.#heap.beginCollection();
    } else if (this.#begun > 0) this.#settle(totalBytes, nowMs);
  }

  /** What a series has found before the process worked again says nothing of the garbage of that work. */
  #beginAnewAfterWork(totalBytes: number): void {
    this.#isInterrupted = false;
    if (!this.#hasGrown(totalBytes, this.#seenBytes)) return;
    this.#begun = 0;
    this.#settledBytes = this.#seenBytes;
    this.#nextAtMs = Number.NEGATIVE_INFINITY;
  }

  #settle(totalBytes: number, nowMs: number): void {
    const { minPauseMs, vainPauseMs, growthFactor } = this.#options;
    this.#begun = 0;
    this.#settledBytes = totalBytes;
    this.#nextAtMs = nowMs + (totalBytes * growthFactor < this.#grownBytes ? minPauseMs : vainPauseMs);
  }

  #isDue(totalBytes: number, nowMs: number): boolean {
    if (!this.#hasGrown(totalBytes, this.#settledBytes)) return false;
    return nowMs >= this.#nextAtMs || totalBytes > this.#settledBytes * this.#options.stormFactor;
  }

  #hasGrown(totalBytes: number, sinceBytes: number): boolean {
    const { growthFactor, growthBytes } = this.#options;
    return totalBytes > Math.max(sinceBytes * growthFactor, sinceBytes + growthBytes);
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
 * V8 has no call for a collection that marks beside the program. One of its flags, set for the moment of a collection of the young
 * generation (a few milliseconds), makes it begin one. A collection that is to save memory (`optimize-for-size`) would empty more
 * pages, and was worse: it forgets the shapes of all objects that do not live just then, packets for one, and the code that was
 * compiled for them, so that the first half second of the next load took twice the CPU and ten times as long (measured). What is
 * left to save V8 saves by itself, eight seconds of rest after this one.
 */
const flagOfBeginning = "stress-incremental-marking";

export function v8Heap(): Heap {
  const collect = withFlag("expose-gc", () => runInNewContext("gc")) as (options: { type: "minor" }) => void;
  return {
    size: () => {
      // The young generation grows and shrinks with the load.
      const spaces = getHeapSpaceStatistics().filter(({ space_name }) => !space_name.startsWith("new_"));
      const sum = (pick: (space: HeapSpaceInfo) => number): number =>
        spaces.reduce((bytes, space) => bytes + pick(space), 0);
      return { totalBytes: sum((space) => space.space_size), usedBytes: sum((space) => space.space_used_size) };
    },
    beginCollection: () => withFlag(flagOfBeginning, () => collect({ type: "minor" })),
  };
}

function withFlag<T>(flag: string, work: () => T): T {
  try {
    setFlagsFromString(`--${flag}`);
    return work();
  } finally {
    setFlagsFromString(`--no-${flag}`);
  }
}
