import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { TestAuthority } from "./certificates.ts";

/** A partner's webhook receiver: real HTTPS, answers as told, remembers what came. */
export interface ReceivedCall {
  path: string;
  headers: IncomingHttpHeaders;
  /** The bytes as they came. */
  raw: Buffer;
  id: string;
  attempt: number;
  atMs: number;
}

export interface Receiver {
  url: string;
  port: number;
  calls: ReceivedCall[];
  connections: () => number;
  /** Status of the next answers; a function may answer itself. */
  answer: (how: AnswerWith) => void;
  /** Ends open connections without an answer. */
  cut(): void;
  close(): Promise<void>;
}

export type AnswerWith = number | ((call: ReceivedCall, response: ServerResponse) => number | undefined);

export async function openReceiver(
  authority: TestAuthority,
  { names = ["127.0.0.1", "localhost"], host = "127.0.0.1", port = 0, answer = 200 as AnswerWith } = {},
): Promise<Receiver> {
  const calls: ReceivedCall[] = [];
  const sockets = new Set<Socket>();
  let how = answer;
  let connections = 0;
  const server = createServer(authority.issue(names), (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { headers } = request;
      const call: ReceivedCall = {
        path: `${request.method} ${request.url}`,
        headers,
        raw: Buffer.concat(chunks),
        id: String(headers["idempotency-key"]),
        attempt: Number(headers["x-delivery-attempt"]),
        atMs: Date.now(),
      };
      calls.push(call);
      const status = typeof how === "function" ? how(call, response) : how;
      if (status !== undefined) response.writeHead(status).end("ok");
    });
  });
  server.on("connection", (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const bound = (server.address() as AddressInfo).port;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `https://127.0.0.1:${bound}/hook`,
    port: bound,
    calls,
    connections: () => connections,
    answer: (next) => {
      how = next;
    },
    cut,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}

export const signatureOf = (secret: string, raw: Buffer): string =>
  `sha256=${createHmac("sha256", secret).update(raw).digest("hex")}`;
