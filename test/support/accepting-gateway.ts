import { createServer, type Server, type Socket } from "node:net";
import type { ProtocolDefinition, Session } from "../../src/codecs/protocol-definition.ts";
import { protocols } from "../../src/codecs/protocols.ts";
import { StreamDecoder } from "../../src/codecs/stream-decoder.ts";
import { recognize } from "../../src/gateway/recognition.ts";

/** A gateway that accepts every login of every protocol, answers every frame and stores nothing. */
export interface AcceptingGateway {
  port: number;
  /** The ids that have logged in. */
  logins: Set<string>;
  close(): Promise<void>;
}

export async function openAcceptingGateway(): Promise<AcceptingGateway> {
  const logins = new Set<string>();
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    accept(socket, logins);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    logins,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function accept(socket: Socket, logins: Set<string>): void {
  const session: Session = { nowMs: 0, device: undefined, memory: new Map() };
  let start = Buffer.alloc(0);
  let protocol: ProtocolDefinition | undefined;
  let decoder: StreamDecoder | undefined;
  socket.on("error", () => undefined);
  socket.on("data", (bytes) => {
    session.nowMs = Date.now();
    if (decoder === undefined) {
      start = Buffer.concat([start, bytes]);
      const found = recognize(protocols, start);
      if (typeof found === "string") return;
      protocol = found;
      decoder = new StreamDecoder(protocol);
      decoder.push(start);
    } else decoder.push(bytes);
    while (protocol && readOn(protocol, decoder, session, socket, logins));
  });
}

/** True: a device has logged in, and what follows is to be read. */
function readOn(
  protocol: ProtocolDefinition,
  decoder: StreamDecoder,
  session: Session,
  socket: Socket,
  logins: Set<string>,
): boolean {
  const { frames } = decoder.decode(session);
  for (const { replies } of frames) for (const reply of replies) socket.write(reply);
  const last = frames.at(-1)?.messages.at(-1);
  if (last?.kind !== "login" || session.device) return false;
  const { id } = last;
  logins.add(id);
  const outstandingSerials = new Set<string>();
  session.device = { imei: id, id, utcOffsetMinutes: 0, traits: {}, locale: "en", outstandingSerials };
  for (const frame of protocol.encode({ kind: "clock" }, session)) socket.write(frame);
  return true;
}
