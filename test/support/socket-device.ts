import { connect, type Socket } from "node:net";
import { vi } from "vitest";

/** A device on a real socket that writes and reads bytes, whatever its protocol. */
export interface SocketDevice {
  socket: Socket;
  isClosed: boolean;
  write(bytes: Buffer): void;
  /** Waits until the service has sent these bytes; returns what came since the last call. */
  until(expected: Buffer | RegExp): Promise<Buffer>;
  untilClosed(): Promise<void>;
  close(): void;
}

export async function openSocketDevice(port: number): Promise<SocketDevice> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  let received = Buffer.alloc(0);
  const device: SocketDevice = {
    socket,
    isClosed: false,
    write: (bytes) => void socket.write(bytes),
    until: async (expected) => {
      const has = (): boolean =>
        expected instanceof RegExp ? expected.test(received.toString("latin1")) : received.includes(expected);
      await vi.waitUntil(has, { timeout: 10_000, interval: 5 }).catch(() => {
        throw new Error(`no ${expected.toString("latin1")} in ${received.toString("hex")}`);
      });
      const since = received;
      received = Buffer.alloc(0);
      return since;
    },
    untilClosed: async () => void (await vi.waitUntil(() => device.isClosed, { timeout: 10_000, interval: 5 })),
    close: () => void socket.destroy(),
  };
  socket.on("error", () => undefined);
  socket.on("close", () => {
    device.isClosed = true;
  });
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  return device;
}
