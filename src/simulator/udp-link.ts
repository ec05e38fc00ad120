import { createSocket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { OpenLink } from "./link.ts";

/** A socket for each device, connected to one address: an answer from elsewhere is not heard. Every write is a datagram. */
export function makeUdpLinks(host: string, port: number): OpenLink {
  return (events) => {
    let isOver = false;
    const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
    const finish = (cause: string | undefined): void => {
      if (isOver) return;
      isOver = true;
      socket.close();
      events.onClose(cause);
    };
    // Nobody listens at the address; a system tells it when it feels like it.
    socket.on("error", (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
    socket.on("message", (bytes) => {
      if (!isOver) events.onBytes(bytes);
    });
    socket.on("connect", () => {
      if (!isOver) events.onOpen();
    });
    socket.connect(port, host);
    return {
      write: (bytes) => {
        if (!isOver) socket.send(bytes, (error) => error && finish((error as NodeJS.ErrnoException).code));
      },
      close: () => {
        if (isOver) return;
        isOver = true;
        // After what was written.
        setImmediate(() => socket.close());
      },
    };
  };
}
