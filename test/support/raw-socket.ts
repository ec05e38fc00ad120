import { connect, type Socket } from "node:net";
import { vi } from "vitest";

/** Bytes in and out of a gateway, of any protocol. */
export interface RawSocket {
  socket: Socket;
  isClosed: boolean;
  received(): Buffer;
  write(bytes: Buffer | string): void;
  /** Waits until the service has sent so many bytes in all, and returns them. */
  untilBytes(count: number): Promise<Buffer>;
  untilText(text: string): Promise<string>;
  untilClosed(): Promise<void>;
  close(): void;
}

const waiting = { timeout: 10_000, interval: 5 };

export async function openRawSocket(port: number): Promise<RawSocket> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  const chunks: Buffer[] = [];
  const received = (): Buffer => Buffer.concat(chunks);
  const raw: RawSocket = {
    socket,
    isClosed: false,
    received,
    write: (bytes) => void socket.write(bytes),
    untilBytes: async (count) => {
      await vi.waitUntil(() => received().length >= count, waiting);
      return received();
    },
    untilText: async (text) => {
      await vi
        .waitUntil(() => received().toString("latin1").includes(text), waiting)
        .catch(() => {
          throw new Error(`no ${JSON.stringify(text)} in ${JSON.stringify(received().toString("latin1"))}`);
        });
      return received().toString("latin1");
    },
    untilClosed: () => vi.waitUntil(() => raw.isClosed, waiting).then(() => undefined),
    close: () => void socket.destroy(),
  };
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => undefined);
  socket.on("close", () => {
    raw.isClosed = true;
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  return raw;
}
