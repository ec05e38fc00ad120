import { createSocket } from "node:dgram";
import { vi } from "vitest";
import type { TrackerMessage } from "../../src/codecs/tracker-message.ts";

/** A device that speaks UDP, byte for byte. */
export interface UdpDevice {
  /** Datagrams of the service. */
  answers: Buffer[];
  /** The same as text, one byte per character. */
  lines: string[];
  write(bytes: Buffer | string): void;
  /** A frame of the test protocol that names its device. */
  send(id: string, n: number, messages?: TrackerMessage[]): void;
  until(line: string): Promise<void>;
  close(): void;
}

export async function openUdpDevice(port: number): Promise<UdpDevice> {
  const socket = createSocket("udp4");
  const answers: Buffer[] = [];
  const lines: string[] = [];
  socket.on("error", () => undefined);
  socket.on("message", (bytes) => {
    answers.push(bytes);
    lines.push(bytes.toString("latin1").trimEnd());
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const device: UdpDevice = {
    answers,
    lines,
    write: (bytes) => socket.send(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes, port, "127.0.0.1"),
    send: (id, n, messages) => device.write(`${JSON.stringify({ id, n, ...(messages ? { messages } : {}) })}\n`),
    until: async (line) => {
      await vi
        .waitUntil(() => lines.includes(line), { timeout: 10_000, interval: 5 })
        .catch(() => {
          throw new Error(`no "${line}" among ${JSON.stringify(lines)}`);
        });
    },
    close: () => void socket.close(),
  };
  return device;
}
