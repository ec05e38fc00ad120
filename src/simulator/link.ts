import { connect } from "node:net";

export interface Link {
  write(bytes: Buffer): void;
  /** Sends what was written and closes. Nothing is heard from the link any more. */
  close(): void;
}

export interface LinkEvents {
  onOpen(): void;
  /** The bytes are valid only during the call. */
  onBytes(bytes: Buffer): void;
  /** Undefined: the other side closed in good order. */
  onClose(cause: string | undefined): void;
}

export type OpenLink = (events: LinkEvents) => Link;

/**
 * Connections to one address. All of them read into one buffer: with a buffer for each, ten thousand idle connections would
 * hold 640 MB after their first bytes.
 */
export function makeLinks(host: string, port: number): OpenLink {
  const shared = Buffer.allocUnsafe(65_536);
  return (events) => {
    let isOver = false;
    const finish = (cause: string | undefined): void => {
      if (isOver) return;
      isOver = true;
      events.onClose(cause);
    };
    const socket = connect({
      host,
      port,
      noDelay: true,
      onread: {
        buffer: shared,
        callback: (length) => {
          if (!isOver) events.onBytes(shared.subarray(0, length));
          return true;
        },
      },
    });
    socket.once("connect", () => {
      if (!isOver) events.onOpen();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      finish(error.code ?? error.message);
      socket.destroy();
    });
    socket.on("close", () => finish(undefined));
    return {
      write: (bytes) => {
        socket.write(bytes);
      },
      close: () => {
        isOver = true;
        socket.destroySoon();
      },
    };
  };
}
