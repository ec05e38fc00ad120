import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openStream, type Stream } from "./stream.ts";

/** What a page sees of a connection: named events, and never a comment line. */
class FakeSource extends EventTarget {
  static readonly CLOSED = 2;
  static opened: FakeSource[] = [];
  readyState = 0;
  onerror: () => void = () => undefined;

  constructor() {
    super();
    FakeSource.opened.push(this);
  }
  say(kind: string, data: unknown): void {
    if (this.readyState !== FakeSource.CLOSED) {
      this.dispatchEvent(new MessageEvent(kind, { data: JSON.stringify(data) }));
    }
  }
  fail(): void {
    this.readyState = FakeSource.CLOSED;
    this.onerror();
  }
  close(): void {
    this.readyState = FakeSource.CLOSED;
  }
}

describe("the live stream of a browser", () => {
  let stream: Stream;
  const windowEvents = new EventTarget();
  const newest = (): FakeSource => FakeSource.opened.at(-1) as FakeSource;
  const openCount = (): number => FakeSource.opened.filter(({ readyState }) => readyState !== FakeSource.CLOSED).length;

  beforeEach(() => {
    vi.useFakeTimers();
    FakeSource.opened = [];
    for (const name of ["addEventListener", "removeEventListener"] as const) {
      vi.stubGlobal(name, windowEvents[name].bind(windowEvents));
    }
    vi.stubGlobal("EventSource", FakeSource);
    vi.stubGlobal("fetch", () => Promise.reject(new Error("no network")));
    stream = openStream();
    newest().say("hello", { now: 1 });
  });
  afterEach(() => {
    stream.close();
    expect(openCount()).toBe(0);
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("stays live for an hour in which nothing happens", () => {
    const states = new Set<string>();
    stream.state.subscribe(() => states.add(stream.state.get()));
    for (let seconds = 0, known = newest(); seconds < 3600; seconds++) {
      vi.advanceTimersByTime(1000);
      if (newest() !== known) newest().say("hello", { now: 1 });
      known = newest();
    }
    expect([[...states], stream.state.get(), openCount()]).toEqual([[], "live", 1]);
  });

  it("tries a quiet connection by a second one, and closes the first when that has greeted", () => {
    const [first] = FakeSource.opened;
    const heard: unknown[] = [];
    stream.on("event", (data) => heard.push(data));
    stream.on("resync", () => heard.push("resync"));
    vi.advanceTimersByTime(45_000);
    expect([stream.state.get(), openCount()]).toEqual(["live", 2]);
    first?.say("event", { id: "e1" });
    newest().say("hello", { now: 2 });
    expect([stream.state.get(), openCount(), heard]).toEqual(["live", 1, [{ id: "e1" }, "resync"]]);
    expect(first?.readyState).toBe(FakeSource.CLOSED);
  });

  it("is lost when the second connection is silent as well, and comes back with all read again", () => {
    let resyncs = 0;
    stream.on("resync", () => resyncs++);
    vi.advanceTimersByTime(60_000);
    expect([stream.state.get(), openCount()]).toEqual(["lost", 1]);
    newest().say("hello", { now: 3 });
    expect([stream.state.get(), resyncs]).toEqual(["live", 1]);
  });

  it("connects again as soon as a laptop that slept is opened", () => {
    let resyncs = 0;
    stream.on("resync", () => resyncs++);
    // Nothing runs while it sleeps, and the clock goes on.
    vi.setSystemTime(Date.now() + 8 * 3_600_000);
    windowEvents.dispatchEvent(new Event("visibilitychange"));
    expect([stream.state.get(), FakeSource.opened.length]).toEqual(["lost", 2]);
    newest().say("hello", { now: 3 });
    expect([stream.state.get(), resyncs, openCount()]).toEqual(["live", 1, 1]);
  });

  it("is lost at once when the connection ends or the network goes, and connects again", () => {
    newest().fail();
    expect(stream.state.get()).toBe("lost");
    vi.advanceTimersByTime(2000);
    newest().say("hello", { now: 4 });
    expect([stream.state.get(), FakeSource.opened.length]).toEqual(["live", 2]);
    windowEvents.dispatchEvent(new Event("offline"));
    expect(stream.state.get()).toBe("lost");
    windowEvents.dispatchEvent(new Event("online"));
    newest().say("hello", { now: 5 });
    expect([stream.state.get(), openCount()]).toEqual(["live", 1]);
  });
});
