import { type AddressInfo, createServer } from "node:net";

/** Speaks just enough of the protocol of PostgreSQL to answer in an order that a real server rarely has. */
export interface ScriptedPostgres {
  url: string;
  close(): Promise<void>;
}

/** A message of the server. */
export function serverMessage(type: string, body = ""): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + Buffer.byteLength(body));
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
}

const authenticated = serverMessage("R", "\0\0\0\0");
const ready = serverMessage("Z", "I");

/** Lets everybody in, answers the first bytes that come then, and ends the connection. */
export async function openScriptedPostgres(answer: readonly Buffer[]): Promise<ScriptedPostgres> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write(Buffer.concat([authenticated, ready]));
      socket.once("data", () => socket.end(Buffer.concat(answer)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `postgresql://vigil@127.0.0.1:${(server.address() as AddressInfo).port}/vigil`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
