import { describe, expect, it } from "vitest";
import { HeapAtRest, keepHeapSmall, v8Heap } from "./heap-at-rest.ts";

const mb = 1024 * 1024;

/** Each collection leaves the next of these sizes, in MB: total and used. */
function fakeHeap(total: number, used: number, after: readonly (readonly [number, number])[] = []) {
  const heap = {
    total,
    used,
    begun: 0,
    size: () => ({ totalBytes: heap.total * mb, usedBytes: heap.used * mb }),
    beginCollection: () => {
      [heap.total, heap.used] = after[heap.begun++] ?? [heap.total, heap.used];
    },
  };
  return heap;
}

describe("the heap at rest", () => {
  it("is collected until little of it is empty, and again when it has grown", () => {
    const heap = fakeHeap(160, 130, [
      [128, 54],
      [57, 54],
      [57, 54],
    ]);
    const atRest = new HeapAtRest(heap, { minPauseMs: 1000 });
    for (const nowMs of [0, 500, 1000, 3000, 5000]) atRest.look(0.01, nowMs);
    expect(heap.begun).toBe(2);
    heap.total = 64;
    atRest.look(0.01, 6000);
    expect(heap.begun).toBe(2);
    heap.total = 67;
    atRest.look(0.01, 7000);
    expect(heap.begun).toBe(3);
  });

  it("is left alone while the process works", () => {
    const heap = fakeHeap(160, 130);
    const atRest = new HeapAtRest(heap);
    atRest.look(0.6, 0);
    expect(heap.begun).toBe(0);
    atRest.look(0.1, 500);
    expect(heap.begun).toBe(1);
    atRest.look(0.9, 1000);
    expect(heap.begun).toBe(1);
  });

  it("ends a series that gives nothing back, and waits before the next", () => {
    const heap = fakeHeap(160, 80);
    const atRest = new HeapAtRest(heap, { maxCollections: 3, minPauseMs: 10_000 });
    for (let nowMs = 0; nowMs <= 5000; nowMs += 500) atRest.look(0, nowMs);
    expect(heap.begun).toBe(3);
    heap.total = 320;
    atRest.look(0, 6000);
    expect(heap.begun).toBe(3);
    atRest.look(0, 20_000);
    expect(heap.begun).toBe(4);
  });

  it("gives back what is garbage in the old generation", async () => {
    const heap = v8Heap();
    let garbage: unknown[] = Array.from({ length: 500_000 }, (_, index) => ({ index }));
    // Promotes it.
    for (let n = 0; n < 2; n++) heap.beginCollection();
    const before = heap.size().usedBytes;
    expect(garbage.length).toBe(500_000);
    garbage = [];
    await expect
      .poll(
        () => {
          heap.beginCollection();
          return before - heap.size().usedBytes;
        },
        { timeout: 10_000, interval: 100 },
      )
      .toBeGreaterThan(10 * mb);
    expect(garbage).toEqual([]);
  });

  it("is looked after until that is stopped", () => {
    keepHeapSmall()();
  });
});
