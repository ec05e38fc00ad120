import { connect, type Socket } from "node:net";
import { vi } from "vitest";

/** A device of a real protocol on a real socket: frames in and out, byte for byte, as text of one byte per character. */
export interface WireDevice {
  socket: Socket;
  /** Frames of the service, in order. */
  frames: string[];
  isClosed: boolean;
  write(text: string): void;
  /** Waits for a frame that begins like this, and returns it; with a number for that many of them. */
  until(start: string, count?: number): Promise<string>;
  close(): Promise<void>;
}

const ends: Record<string, string> = { iw: "#", watch: "]" };

export async function openWireDevice(port: number, protocol: "iw" | "watch", login: string): Promise<WireDevice> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  const end = ends[protocol] as string;
  const frames: string[] = [];
  let rest = "";
  const device: WireDevice = {
    socket,
    frames,
    isClosed: false,
    write: (text) => void socket.write(text, "latin1"),
    until: async (start, count = 1) => {
      const found = (): string[] => frames.filter((frame) => frame.startsWith(start));
      await vi
        .waitUntil(() => found().length >= count, { timeout: 10_000, interval: 5 })
        .catch(() => {
          throw new Error(`no ${count} × "${start}" among ${JSON.stringify(frames)}`);
        });
      return found()[count - 1] as string;
    },
    close: async () => {
      socket.destroy();
      await vi.waitUntil(() => device.isClosed, { timeout: 10_000, interval: 5 });
    },
  };
  socket.on("error", () => undefined);
  socket.on("close", () => {
    device.isClosed = true;
  });
  socket.on("data", (chunk) => {
    rest += chunk.toString("latin1");
    for (let at = rest.indexOf(end); at >= 0; at = rest.indexOf(end)) {
      frames.push(rest.slice(0, at + 1));
      rest = rest.slice(at + 1);
    }
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  device.write(login);
  return device;
}
