import { connect } from "node:net";
import { vi } from "vitest";

/** A device of a binary protocol on a real socket. What the service writes is looked for in one text of hex digits. */
export interface ByteDevice {
  readonly received: string;
  isClosed: boolean;
  write(bytes: Buffer): void;
  /** Waits until the service has written this, after what was waited for before; returns the hex digits that matched. */
  until(pattern: RegExp | Buffer): Promise<string>;
  untilClosed(): Promise<void>;
  close(): Promise<void>;
}

export async function openByteDevice(port: number): Promise<ByteDevice> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  let received = "";
  let seen = 0;
  const device: ByteDevice = {
    get received() {
      return received;
    },
    isClosed: false,
    write: (bytes) => void socket.write(bytes),
    until: async (pattern) => {
      const wanted = Buffer.isBuffer(pattern) ? new RegExp(pattern.toString("hex")) : pattern;
      let found: RegExpExecArray | null = null;
      await vi
        .waitUntil(
          () => {
            found = wanted.exec(received.slice(seen));
            return found !== null;
          },
          { timeout: 10_000, interval: 5 },
        )
        .catch(() => {
          throw new Error(`no ${wanted} in ${received.slice(seen)}`);
        });
      const match = found as unknown as RegExpExecArray;
      seen += match.index + match[0].length;
      return match[1] ?? match[0];
    },
    untilClosed: async () => {
      await vi.waitUntil(() => device.isClosed, { timeout: 10_000, interval: 5 });
    },
    close: async () => {
      socket.destroy();
      await device.untilClosed();
    },
  };
  socket.on("error", () => undefined);
  socket.on("end", () => socket.end());
  socket.on("close", () => {
    device.isClosed = true;
  });
  socket.on("data", (chunk) => {
    received += chunk.toString("hex");
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  return device;
}
