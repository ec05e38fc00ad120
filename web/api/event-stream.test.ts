import { describe, expect, it } from "vitest";
import { readEventStream, type StreamEvent } from "./event-stream.ts";

async function read(...parts: (string | Uint8Array)[]): Promise<{ events: StreamEvent[]; arrivals: number }> {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(typeof part === "string" ? encoder.encode(part) : part);
      controller.close();
    },
  });
  const events: StreamEvent[] = [];
  let arrivals = 0;
  await readEventStream(body, { onBytes: () => arrivals++, onEvent: (event) => events.push(event) });
  return { events, arrivals };
}

describe("a stream of server-sent events", () => {
  it("is read event by event, each with the last id", async () => {
    const { events } = await read('event: hello\ndata: {"now":1}\n\nid: 7\nevent: device\ndata: {}\n\n', "data: x\n\n");
    expect(events).toEqual([
      { kind: "hello", data: '{"now":1}', id: "" },
      { kind: "device", data: "{}", id: "7" },
      { kind: "message", data: "x", id: "7" },
    ]);
  });

  it("counts a comment line as a sign of life and as no event", async () => {
    expect(await read(": still here\n\n", ":\n\n")).toEqual({ events: [], arrivals: 2 });
  });

  it("is the same wherever the bytes are cut", async () => {
    const bytes = new TextEncoder().encode("id: 3\r\nevent: message\r\ndata: però\r\ndata: sì\r\n\r\n");
    for (let cut = 1; cut < bytes.length; cut++) {
      const { events } = await read(bytes.slice(0, cut), bytes.slice(cut));
      expect(events).toEqual([{ kind: "message", data: "però\nsì", id: "3" }]);
    }
  });

  it("leaves out an event that its end has cut", async () => {
    expect((await read("event: event\ndata: {}\n")).events).toEqual([]);
  });
});
