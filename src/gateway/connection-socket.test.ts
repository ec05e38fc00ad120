import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { until } from "../../test/support/until.ts";
import { setReading } from "./connection-socket.ts";

/** A socket of a server, and the client that sends to it. */
async function openPair(onData: (socket: Socket, chunk: Buffer) => void) {
  const server = createServer((socket) => {
    opened(socket.on("data", (chunk) => onData(socket, chunk)).on("error", () => undefined));
  });
  let opened: (socket: Socket) => void = () => undefined;
  const accepted = new Promise<Socket>((resolve) => {
    opened = resolve;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined);
  client.write("x");
  const socket = await accepted;
  const close = () => {
    client.destroy();
    socket.destroy();
    server.close();
  };
  return { client, socket, close };
}

/** Longer than bytes take that are on their way. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 100));

test("a socket that is stopped while it gives out a chunk reads no other one, and all of it once it is started", async () => {
  let received = 0;
  const { client, socket, close } = await openPair((from, chunk) => {
    received += chunk.length;
    if (received === 1) setReading(from, "stopped");
  });
  await until(() => expect(received).toBe(1));
  client.write(Buffer.alloc(1_000_000));
  await settled();
  expect([socket.bytesRead, socket.readableLength]).toEqual([1, 0]);
  setReading(socket, "flowing");
  await until(() => expect(received).toBe(1_000_001));
  close();
});

test("a socket that was only paused gives out what it has read when it is stopped, and a stopped one hears of the end later", async () => {
  const chunks: number[] = [];
  const { client, socket, close } = await openPair((_from, chunk) => chunks.push(chunk.length));
  await until(() => expect(chunks).toEqual([1]));
  setReading(socket, "paused");
  client.end(Buffer.alloc(1_000_000));
  await until(() => expect(socket.readableLength).toBeGreaterThan(0));
  const { readableLength } = socket;
  setReading(socket, "stopped");
  await settled();
  expect(chunks).toEqual([1, readableLength]);
  let hasEnded = false;
  socket.on("end", () => {
    hasEnded = true;
  });
  setReading(socket, "flowing");
  await until(() => expect(hasEnded).toBe(true));
  expect(chunks.reduce((sum, length) => sum + length)).toBe(1_000_001);
  close();
});

test("a socket that is stopped and started again at once goes on", async () => {
  let received = 0;
  const { client, socket, close } = await openPair((_from, chunk) => {
    received += chunk.length;
  });
  await until(() => expect(received).toBe(1));
  setReading(socket, "stopped");
  setReading(socket, "flowing");
  await settled();
  client.write(Buffer.alloc(100_000));
  await until(() => expect(received).toBe(100_001));
  close();
});
