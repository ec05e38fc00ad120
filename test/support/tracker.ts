import { connect, type Socket } from "node:net";
import { vi } from "vitest";
import type { TrackerMessage } from "../../src/codecs/tracker-message.ts";

/** A device of the test protocol on a real socket. */
export interface Tracker {
  socket: Socket;
  /** Lines the service has sent. */
  lines: string[];
  isClosed: boolean;
  send(n: number, messages?: TrackerMessage[]): void;
  write(text: string): void;
  /** Waits until the service has sent the line. */
  until(line: string): Promise<void>;
  untilClosed(timeoutMs?: number): Promise<void>;
  close(): Promise<void>;
}

export async function openTracker(port: number, login?: string): Promise<Tracker> {
  const socket = connect({ host: "127.0.0.1", port });
  const lines: string[] = [];
  let rest = "";
  const tracker: Tracker = {
    socket,
    lines,
    isClosed: false,
    send: (n, messages) => tracker.write(`${JSON.stringify({ n, ...(messages ? { messages } : {}) })}\n`),
    write: (text) => void socket.write(text),
    until: (line) =>
      vi
        .waitUntil(() => lines.includes(line), { timeout: 10_000, interval: 5 })
        .then(
          () => undefined,
          () => {
            throw new Error(`no "${line}" among ${JSON.stringify(lines)}, ${tracker.isClosed ? "closed" : "open"}`);
          },
        ),
    untilClosed: async (timeoutMs = 10_000) => {
      await vi.waitUntil(() => tracker.isClosed, { timeout: timeoutMs, interval: 5 });
    },
    close: async () => {
      socket.destroy();
      await vi.waitUntil(() => tracker.isClosed, { interval: 5 });
    },
  };
  socket.on("error", () => undefined);
  socket.on("close", () => {
    tracker.isClosed = true;
  });
  socket.on("end", () => socket.end());
  socket.on("data", (chunk) => {
    const parts = (rest + chunk.toString()).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  if (login !== undefined) {
    tracker.write(`${JSON.stringify({ login })}\n`);
    await tracker.until("clock");
  }
  return tracker;
}
