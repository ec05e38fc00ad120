import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LoginThrottle, type TurnOutcome } from "./login-throttle.ts";

const limits = { refusedLoginsPerMinute: 30, slowedMs: 15 * 60_000, slowedAnswersPerSecond: 2 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function slowed(network = "192.0.2.1") {
  const throttled: [string, number][] = [];
  const throttle = new LoginThrottle(limits, (...args) => throttled.push(args));
  for (let count = 0; count < 31; count++) throttle.refused(network);
  const answered: string[] = [];
  const wait = (key: string, wasSeenHere = false): void => {
    void throttle.waitForTurn({ network, key, wasSeenHere }).then((outcome: TurnOutcome) => {
      answered.push(outcome === "turn" ? key : `${key} ${outcome}`);
    });
  };
  return { throttle, throttled, answered, wait, network };
}

test("the login throttle slows a network after more than 30 refused logins in a minute, and says so once", () => {
  const throttled: [string, number][] = [];
  const throttle = new LoginThrottle(limits, (...args) => throttled.push(args));
  for (let count = 0; count < 30; count++) throttle.refused("a");
  expect(throttle.isSlowed("a")).toBe(false);
  throttle.refused("a");
  throttle.refused("a");
  expect(throttle.isSlowed("a")).toBe(true);
  expect(throttle.isSlowed("b")).toBe(false);
  expect(throttled).toEqual([["a", 900_000]]);
  vi.advanceTimersByTime(15 * 60_000 + 1);
  expect(throttle.isSlowed("a")).toBe(false);
});

test("the login throttle does not count refusals that are spread over more than a minute", () => {
  const throttle = new LoginThrottle(limits, () => undefined);
  for (let count = 0; count < 200; count++) {
    throttle.refused("a");
    vi.advanceTimersByTime(2000);
  }
  expect(throttle.isSlowed("a")).toBe(false);
});

test("the login throttle answers two logins a second, devices last seen from the network first", async () => {
  const { answered, wait } = slowed();
  for (let n = 0; n < 10; n++) wait(`guess ${n}`);
  wait("watch 1", true);
  wait("watch 2", true);
  await vi.advanceTimersByTimeAsync(1000);
  expect(answered).toEqual(["watch 1", "watch 2", "guess 0"]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(answered).toEqual(["watch 1", "watch 2", "guess 0", "guess 1", "guess 2"]);
});

test("the login throttle keeps the place of a known device that connects again, and lets the newer connection have it", async () => {
  const { throttle, answered, wait, network } = slowed();
  wait("first", true);
  wait("second", true);
  throttle.leave({ network, key: "first", wasSeenHere: true });
  wait("third", true);
  wait("first", true);
  wait("first", true);
  await vi.advanceTimersByTimeAsync(1500);
  expect(answered).toEqual(["first left", "first replaced", "first", "second", "third"]);
});

test("the login throttle forgets a guess that disconnects, and stops throttling when the time is over", async () => {
  const { throttle, answered, wait, network } = slowed();
  for (let n = 0; n < 5000; n++) wait(`guess ${n}`);
  throttle.leave({ network, key: "guess 0", wasSeenHere: false });
  expect(throttle.waitingCount).toBe(4999);
  await vi.advanceTimersByTimeAsync(15 * 60_000 + 1000);
  expect(answered).toHaveLength(5000);
  throttle.prune();
  expect(throttle.slowedCount).toBe(0);
});

test("the login throttle serves a peer that does not wait only when nobody is waiting", async () => {
  const { throttle, wait, network } = slowed();
  expect(throttle.takeFreeTurn(network)).toBe(true);
  expect(throttle.takeFreeTurn(network)).toBe(false);
  await vi.advanceTimersByTimeAsync(500);
  wait("guess");
  expect(throttle.takeFreeTurn(network)).toBe(false);
});
