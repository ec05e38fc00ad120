import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openStream, type Stream } from "./stream.ts";

interface Connection {
  lastId: string | null;
  signal: AbortSignal;
  send(text: string): void;
  end(): void;
}

describe("the live stream of a browser", () => {
  let connections: Connection[];
  let stream: Stream;
  const windowEvents = new EventTarget();

  beforeEach(() => {
    vi.useFakeTimers();
    connections = [];
    for (const name of ["addEventListener", "removeEventListener"] as const) {
      vi.stubGlobal(name, windowEvents[name].bind(windowEvents));
    }
    vi.stubGlobal(
      "fetch",
      async (_path: string, { headers, signal }: { headers: HeadersInit; signal: AbortSignal }) => {
        let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
        const body = new ReadableStream<Uint8Array>({
          start: (started) => {
            controller = started;
          },
        });
        connections.push({
          lastId: new Headers(headers).get("Last-Event-ID"),
          signal,
          send: (text) => controller?.enqueue(new TextEncoder().encode(text)),
          end: () => controller?.close(),
        });
        return new Response(body);
      },
    );
    stream = openStream();
  });
  afterEach(() => {
    stream.close();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const newest = (): Connection => connections.at(-1) as Connection;
  const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
  async function greet(): Promise<void> {
    await pass(0);
    newest().send('event: hello\ndata: {"now":1}\n\n');
    await pass(0);
  }

  it("stays live for hours in which nothing but comment lines come", async () => {
    await greet();
    const states = new Set<string>();
    stream.state.subscribe(() => states.add(stream.state.get()));
    for (let seconds = 0; seconds < 7200; seconds += 15) {
      newest().send(": still here\n\n");
      await pass(15_000);
    }
    expect([connections.length, [...states], stream.state.get()]).toEqual([1, [], "live"]);
  });

  it("is lost after a silence, and goes on after the last event with all read again", async () => {
    await greet();
    let resyncs = 0;
    const heard: unknown[] = [];
    stream.on("resync", () => resyncs++);
    stream.on("event", (data) => heard.push(data));
    newest().send('id: 41\nevent: event\ndata: {"id":"e1"}\n\n');
    await pass(50_000);
    expect([stream.state.get(), connections.length]).toEqual(["lost", 2]);
    expect(connections[0]?.signal.aborted).toBe(true);
    expect(newest().lastId).toBe("41");
    await greet();
    expect([stream.state.get(), resyncs, heard]).toEqual(["live", 1, [{ id: "e1" }]]);
  });

  it("is lost at once when the connection ends or the network goes, and comes back by itself", async () => {
    await greet();
    newest().end();
    await pass(0);
    expect(stream.state.get()).toBe("lost");
    await pass(2000);
    await greet();
    expect([stream.state.get(), connections.length]).toEqual(["live", 2]);
    windowEvents.dispatchEvent(new Event("offline"));
    expect(stream.state.get()).toBe("lost");
    windowEvents.dispatchEvent(new Event("online"));
    await greet();
    expect([stream.state.get(), connections.length]).toEqual(["live", 3]);
  });
});
