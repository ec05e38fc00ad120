import { connect, type Socket } from "node:net";
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

/** Without the test runner, so that scripts can use trackers too. */
async function waitUntil(condition: () => boolean, timeoutMs: number, failure: () => string): Promise<void> {
  for (const limitMs = performance.now() + timeoutMs; !condition(); ) {
    if (performance.now() > limitMs) throw new Error(failure());
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** `from`: the address it comes from, any of 127.0.0.0/8. */
export async function openTracker(port: number, login?: string, from?: string): Promise<Tracker> {
  const socket = connect({ host: "127.0.0.1", port, ...(from ? { localAddress: from } : {}) });
  const lines: string[] = [];
  let rest = "";
  const tracker: Tracker = {
    socket,
    lines,
    isClosed: false,
    send: (n, messages) => tracker.write(`${JSON.stringify({ n, ...(messages ? { messages } : {}) })}\n`),
    write: (text) => void socket.write(text),
    until: (line) =>
      waitUntil(
        () => lines.includes(line),
        10_000,
        () => `no "${line}" among ${JSON.stringify(lines)}, ${tracker.isClosed ? "closed" : "open"}`,
      ),
    untilClosed: (timeoutMs = 10_000) =>
      waitUntil(
        () => tracker.isClosed,
        timeoutMs,
        () => "still open",
      ),
    close: async () => {
      socket.destroy();
      await tracker.untilClosed();
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
