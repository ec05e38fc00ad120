import { connect, type Socket } from "node:net";
import { vi } from "vitest";

/** Watches that take and send recordings over a real socket; written apart from the codecs, from the protocol sheets. */

export interface ReceivedPart {
  serial: string;
  total: number;
  sequence: number;
  bytes: Buffer;
}

export interface VoiceWatch {
  socket: Socket;
  /** Text frames of the service, without recordings. */
  frames: string[];
  parts: ReceivedPart[];
  isClosed: boolean;
  write(bytes: Buffer | string): void;
  until(condition: () => boolean, what: string): Promise<void>;
  close(): Promise<void>;
}

export interface WatchOptions {
  /** What the watch says to a part; undefined: nothing. */
  answersPart?: (part: ReceivedPart, count: number) => "1" | "0" | undefined;
  answersText?: boolean;
}

async function open(port: number, take: (watch: VoiceWatch, buffer: Buffer) => number): Promise<VoiceWatch> {
  const socket = connect({ host: "127.0.0.1", port });
  let buffer = Buffer.alloc(0);
  const watch: VoiceWatch = {
    socket,
    frames: [],
    parts: [],
    isClosed: false,
    write: (bytes) => void socket.write(bytes),
    until: (condition, what) =>
      vi.waitUntil(condition, { timeout: 10_000, interval: 5 }).then(
        () => undefined,
        () => {
          throw new Error(`no ${what}: ${JSON.stringify(watch.frames)}, ${watch.parts.length} parts`);
        },
      ),
    close: async () => {
      socket.destroy();
      await vi.waitUntil(() => watch.isClosed, { timeout: 10_000, interval: 5 });
    },
  };
  socket.on("error", () => undefined);
  socket.on("close", () => {
    watch.isClosed = true;
  });
  socket.on("data", (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (let used = take(watch, buffer); used > 0; used = take(watch, buffer)) buffer = buffer.subarray(used);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  return watch;
}

export async function openIwWatch(port: number, imei: string, options: WatchOptions = {}): Promise<VoiceWatch> {
  const { answersPart = () => "1", answersText = true } = options;
  const watch = await open(port, (self, buffer) => {
    if (buffer.subarray(0, 7).toString() === "IWBP28,") {
      let at = 0;
      for (let commas = 0; commas < 6; commas++) at = buffer.indexOf(",", at) + 1;
      if (at === 0) return 0;
      const [, name, serial = "", total, sequence, length] = buffer.toString("latin1", 0, at).split(",");
      const end = at + Number(length);
      if (buffer.length <= end) return 0;
      if (buffer[end] !== 0x23) throw new Error("a part does not end where it says");
      const part = {
        serial,
        total: Number(total),
        sequence: Number(sequence),
        bytes: Buffer.from(buffer.subarray(at, end)),
      };
      self.parts.push(part);
      const result = answersPart(part, self.parts.length);
      if (result) self.write(`IWAP28,${name},${serial},${total},${sequence},${result}#`);
      return end + 1;
    }
    const end = buffer.indexOf("#");
    if (end < 0) return 0;
    const frame = buffer.toString("latin1", 0, end + 1);
    self.frames.push(frame);
    if (frame.startsWith("IWBP40,") && answersText) self.write(`IWAP40,${frame.split(",")[2]}#`);
    return end + 1;
  });
  watch.write(`IWAP00${imei}#`);
  await watch.until(() => watch.frames.some((frame) => frame.startsWith("IWBP00")), "answer to the login");
  return watch;
}

const escapes: readonly (readonly [number, number])[] = [
  [0x7d, 1],
  [0x5b, 2],
  [0x5d, 3],
  [0x2c, 4],
  [0x2a, 5],
];

export function escapeWatch(bytes: Buffer): Buffer {
  return Buffer.concat(
    [...bytes].map((byte) => {
      const code = escapes.find(([plain]) => plain === byte)?.[1];
      return Buffer.from(code === undefined ? [byte] : [0x7d, code]);
    }),
  );
}

function unescapeWatch(bytes: Buffer): Buffer {
  const plain: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === 0x7d) plain.push(escapes.find(([, code]) => code === bytes[at + 1])?.[0] ?? 0, ...[]);
    else plain.push(bytes[at] as number);
    if (bytes[at] === 0x7d) at++;
  }
  return Buffer.from(plain);
}

export const watchFrame = (id: string, content: Buffer | string): Buffer => {
  const bytes = Buffer.from(content as string);
  const length = bytes.length.toString(16).toUpperCase().padStart(4, "0");
  return Buffer.concat([Buffer.from(`[3G*${id}*${length}*`), bytes, Buffer.from("]")]);
};

export async function openSeTracker(port: number, id: string, options: WatchOptions = {}): Promise<VoiceWatch> {
  const { answersPart = () => "1", answersText = true } = options;
  const watch = await open(port, (self, buffer) => {
    const end = buffer.indexOf("]");
    if (end < 0) return 0;
    const start = buffer.subarray(0, end).toString("latin1").split("*").slice(0, 3).join("*").length + 1;
    const content = buffer.subarray(start, end);
    if (content.subarray(0, 3).toString() === "TK," && content.length > 4) {
      const part = { serial: "", total: 1, sequence: 1, bytes: unescapeWatch(content.subarray(3)) };
      self.parts.push(part);
      const result = answersPart(part, self.parts.length);
      if (result) self.write(watchFrame(id, `TK,${result}`));
    } else {
      const text = content.toString("latin1");
      self.frames.push(text);
      if (text.startsWith("MESSAGE,") && answersText) self.write(watchFrame(id, "MESSAGE"));
    }
    return end + 1;
  });
  watch.write(watchFrame(id, "LK"));
  await watch.until(() => watch.frames.includes("LK"), "answer to the keep-alive");
  return watch;
}
