import { connect } from "node:net";
import { vi } from "vitest";

/** An IW watch on a real socket, driven frame by frame. */
export interface IwWatch {
  /** Frames of the service, without what follows the code of an answer to the login. */
  received: string[];
  /** Writes the frame and waits for the next thing the service says. */
  send(frame: string): Promise<string>;
  /** Writes without waiting. */
  write(...frames: string[]): void;
  close(): void;
}

export async function openIwWatch(port: number, imei: string): Promise<IwWatch> {
  const socket = connect({ host: "127.0.0.1", port });
  const received: string[] = [];
  let rest = "";
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => {
    const parts = (rest + chunk.toString("latin1")).split("#");
    rest = parts.pop() ?? "";
    received.push(...parts.map((part) => `${part}#`));
  });
  const watch: IwWatch = {
    received,
    write: (...frames) => {
      for (const frame of frames) socket.write(frame, "latin1");
    },
    send: async (frame) => {
      const before = received.length;
      watch.write(frame);
      await vi.waitUntil(() => received.length > before, { timeout: 10_000, interval: 5 });
      return received[before] as string;
    },
    close: () => void socket.destroy(),
  };
  await watch.send(`IWAP00${imei}#`);
  return watch;
}

export interface EcgFrame {
  time?: string;
  total: number;
  sequence: number;
  gain?: string;
  pointVoltage?: string;
  lead?: number;
  rate?: number;
  samples: readonly number[];
}

export function ecgFrame(part: EcgFrame): string {
  const { time = "20260301081930", total, sequence, gain = "10", pointVoltage = "2.5", lead = 1, rate = 250 } = part;
  const bytes = Buffer.alloc(part.samples.length * 2);
  for (const [index, sample] of part.samples.entries()) bytes.writeInt16BE(sample, index * 2);
  const fields = [time, total, sequence, gain, pointVoltage, lead, rate, bytes.length, bytes.toString("hex")];
  return `IWAPHD,${fields.join(",")}#`;
}
