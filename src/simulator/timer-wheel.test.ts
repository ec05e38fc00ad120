import { describe, expect, it } from "vitest";
import { type Sleeper, TimerWheel } from "./timer-wheel.ts";

describe("the timer wheel", () => {
  const setUp = () => {
    const wheel = new TimerWheel(1000, 10, 8);
    const wakes: [string, number][] = [];
    const sleeper = (name: string): Sleeper => ({ dueTick: -1, wake: (nowMs) => wakes.push([name, nowMs]) });
    const runTo = (endMs: number, from = 1000): void => {
      for (let nowMs = from; nowMs <= endMs; nowMs += 10) wheel.advance(nowMs);
    };
    return { wheel, wakes, sleeper, runTo };
  };

  it("wakes each once, at its time, also several rounds ahead", () => {
    const { wheel, wakes, sleeper, runTo } = setUp();
    for (const [name, dueMs] of [
      ["far", 1500],
      ["near", 1035],
      ["past", 900],
    ] as const)
      wheel.schedule(sleeper(name), dueMs);
    runTo(2000);
    expect(wakes).toEqual([
      ["past", 1010],
      ["near", 1040],
      ["far", 1500],
    ]);
  });

  it("forgets the time that was agreed before", () => {
    const { wheel, wakes, sleeper, runTo } = setUp();
    const one = sleeper("one");
    const other = sleeper("other");
    wheel.schedule(one, 1050);
    wheel.schedule(one, 1200);
    wheel.schedule(one, 1100);
    wheel.schedule(other, 1050);
    wheel.cancel(other);
    runTo(2000);
    expect(wakes).toEqual([["one", 1100]]);
  });

  it("makes up for a standstill", () => {
    const { wheel, wakes, sleeper } = setUp();
    wheel.schedule(sleeper("a"), 1020);
    wheel.schedule(sleeper("b"), 4000);
    wheel.advance(9000);
    expect(wakes.map(([name]) => name).sort()).toEqual(["a", "b"]);
  });

  it("lets a sleeper go to sleep again while it is woken", () => {
    const { wheel, runTo } = setUp();
    const times: number[] = [];
    const clockwork: Sleeper = {
      dueTick: -1,
      wake: (nowMs) => {
        times.push(nowMs);
        wheel.schedule(clockwork, nowMs + 80);
      },
    };
    wheel.schedule(clockwork, 1080);
    runTo(1400);
    expect(times).toEqual([1080, 1160, 1240, 1320, 1400]);
  });
});
