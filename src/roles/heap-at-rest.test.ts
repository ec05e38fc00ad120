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
    const atRest = new HeapAtRest(heap);
    for (const nowMs of [0, 500, 1000, 4000, 5000]) atRest.look(0.01, nowMs);
    expect(heap.begun).toBe(2);
    heap.total = 72;
    atRest.look(0.01, 6000);
    expect(heap.begun).toBe(2);
    heap.total = 75;
    atRest.look(0.01, 7000);
    expect(heap.begun).toBe(3);
  });

  it("is left alone while the process works", () => {
    const heap = fakeHeap(160, 130);
    const atRest = new HeapAtRest(heap);
    atRest.look(0.6, 0);
    atRest.look(0.1, 250);
    expect(heap.begun).toBe(0);
    atRest.look(0.04, 500);
    expect(heap.begun).toBe(1);
    atRest.look(0.9, 1000);
    expect(heap.begun).toBe(1);
  });

  it("begins a new series after work that has made the heap larger", () => {
    const heap = fakeHeap(160, 155, [
      [57, 40],
      [150, 60],
      [63, 58],
    ]);
    const atRest = new HeapAtRest(heap);
    atRest.look(0.03, 0);
    atRest.look(0.03, 500);
    expect(heap.begun).toBe(2);
    // Smaller than before the series, and all of it is used: the series alone would end here.
    [heap.total, heap.used] = [150, 145];
    atRest.look(0.9, 1000);
    atRest.look(0.04, 1500);
    expect(heap.begun).toBe(3);
    for (const nowMs of [2000, 2500]) atRest.look(0.04, nowMs);
    expect(heap.total).toBe(63);
    expect(heap.begun).toBe(3);
  });

  it("ends a series that gives nothing back, and waits before the next unless the heap has grown a lot", () => {
    const heap = fakeHeap(160, 80);
    const atRest = new HeapAtRest(heap, { maxCollections: 3, minPauseMs: 0, vainPauseMs: 10_000 });
    for (let nowMs = 0; nowMs <= 5000; nowMs += 500) atRest.look(0, nowMs);
    expect(heap.begun).toBe(3);
    heap.total = 200;
    atRest.look(0, 6000);
    expect(heap.begun).toBe(3);
    atRest.look(0, 20_000);
    expect(heap.begun).toBe(4);
    for (let nowMs = 20_500; nowMs <= 22_000; nowMs += 500) atRest.look(0, nowMs);
    expect(heap.begun).toBe(6);
    heap.total = 320;
    atRest.look(0, 22_500);
    expect(heap.begun).toBe(7);
  });

  it("measures growth from the smallest size, which V8 may have come to by itself", () => {
    const heap = fakeHeap(160, 155);
    const atRest = new HeapAtRest(heap);
    for (const nowMs of [0, 500]) atRest.look(0, nowMs);
    heap.total = 100;
    atRest.look(0, 70_000);
    expect(heap.begun).toBe(1);
    heap.total = 155;
    atRest.look(0, 70_500);
    expect(heap.begun).toBe(2);
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
