import { describe, expect, it } from "vitest";
import { Disk } from "./disk.ts";
import { Lanes } from "./lanes.ts";
import { Machine } from "./machine.ts";

describe("a simulated machine", () => {
  it("lets one thread do one thing after the other", () => {
    const machine = new Machine(2);
    const loop = machine.thread();
    const ends: [string, number][] = [];
    machine.run(loop, 10, () => ends.push(["first", machine.nowUs]));
    machine.run(loop, 5, () => ends.push(["second", machine.nowUs]));
    machine.advanceTo(100);
    expect(ends).toEqual([
      ["first", 10],
      ["second", 15],
    ]);
    expect(machine.busyUs).toBe(15);
  });

  it("shares its cores between threads, none faster than one core", () => {
    const ends: number[] = [];
    for (const cores of [1, 2, 4]) {
      const machine = new Machine(cores);
      for (let n = 0; n < 3; n++) machine.run(machine.thread(), 10, () => ends.push(machine.nowUs));
      machine.advanceTo(100);
    }
    expect(ends).toEqual([30, 30, 30, 15, 15, 15, 10, 10, 10]);
  });

  it("calls at the time that was asked for, in order, and stops where it is told to", () => {
    const machine = new Machine(1);
    const calls: string[] = [];
    for (const [name, delay] of [
      ["d", 40],
      ["b", 20],
      ["a", 10],
      ["c", 20],
      ["e", 60],
    ] as const)
      machine.after(delay, () => calls.push(`${name} ${machine.nowUs}`));
    machine.advanceTo(50);
    expect(calls).toEqual(["a 10", "b 20", "c 20", "d 40"]);
    expect(machine.nowUs).toBe(50);
  });
});

describe("a simulated disk", () => {
  it("serves all who wait with one flush", () => {
    const machine = new Machine(1);
    const disk = new Disk(machine, 100);
    const ends: number[] = [];
    for (const at of [0, 10, 90]) machine.after(at, () => disk.flush(() => ends.push(machine.nowUs)));
    machine.advanceTo(1000);
    expect(ends).toEqual([100, 200, 200]);
  });
});

describe("simulated locks of lanes", () => {
  it("are given one at a time, in turn, and each organization has its own", () => {
    const lanes = new Lanes();
    const order: string[] = [];
    lanes.lock([1], () => order.push("first"));
    lanes.lock([1, 2], () => order.push("second"));
    lanes.lock([2], () => order.push("other"));
    expect(order).toEqual(["first", "other"]);
    lanes.unlock([1]);
    lanes.unlock([2]);
    expect(order).toEqual(["first", "other", "second"]);
    lanes.unlock([1, 2]);
    lanes.lock([1], () => order.push("third"));
    expect(order).toEqual(["first", "other", "second", "third"]);
  });
});
