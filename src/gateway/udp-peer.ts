import type { Socket } from "node:dgram";
import type { Connection } from "./connection.ts";
import type { ConnectionSocket } from "./connection-socket.ts";

/** What a peer tells the port that it belongs to. */
export interface UdpPeerHost {
  /** False: no room for one more that waits. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
  /** The login is settled: the device is known, or the peer has disconnected. */
  settled(): void;
  /** The end of a datagram was not a whole frame. */
  incomplete(protocol: string): void;
  closed(peer: UdpPeer): void;
}

/**
 * A device behind an address, as the socket of its connection. Datagrams that come while the connection is not read wait here,
 * within bounds; those beyond are dropped, and their senders, who get no answer, send them again.
 */
export class UdpPeer implements ConnectionSocket {
  readonly isDatagram = true;
  readonly key: string;
  readonly endpoint: string;
  lastDatagramAtMs: number;
  connection: Connection | undefined;
  writableLength = 0;
  readonly writableNeedDrain = false;
  readonly #host: UdpPeerHost;
  readonly #socket: Socket;
  readonly #address: string;
  readonly #port: number;
  readonly #maxWaiting: number;
  #waiting: Buffer[] = [];
  #isPaused = false;
  #isSettled = false;
  #isFeeding = false;
  #isClosed = false;
  #isClosing = false;

  constructor(
    host: UdpPeerHost,
    socket: Socket,
    remote: { address: string; port: number },
    names: { key: string; endpoint: string },
    maxWaiting: number,
  ) {
    this.#host = host;
    this.#socket = socket;
    this.#address = remote.address;
    this.#port = remote.port;
    this.key = names.key;
    this.endpoint = names.endpoint;
    this.#maxWaiting = maxWaiting;
    this.lastDatagramAtMs = performance.now();
  }

  /** False: too many wait already. */
  receive(datagram: Buffer): boolean {
    this.lastDatagramAtMs = performance.now();
    if (!this.#isPaused && this.#waiting.length === 0) {
      this.#feed(datagram);
      return true;
    }
    if (this.#waiting.length >= this.#maxWaiting || !this.#host.reserve(datagram.length)) return false;
    this.#waiting.push(datagram);
    return true;
  }

  #feed(datagram: Buffer): void {
    const { connection } = this;
    if (!connection) return;
    this.#dropIncomplete(connection);
    connection.onData(datagram);
    // What follows a login is read when the device is known.
    if (connection.state !== "resolving") this.#dropIncomplete(connection);
  }

  #dropIncomplete(connection: Connection): void {
    if (connection.dropIncomplete()) this.#host.incomplete(connection.protocol);
  }

  pause(): void {
    this.#isPaused = true;
  }

  /** Later: the connection is in the middle of something. */
  resume(): void {
    this.#isPaused = false;
    this.#settle();
    if (this.#isFeeding || this.#waiting.length === 0) return;
    this.#isFeeding = true;
    setImmediate(() => {
      this.#isFeeding = false;
      while (!this.#isPaused && !this.#isClosed) {
        const next = this.#waiting.shift();
        if (!next) return;
        this.#host.release(next.length);
        this.#feed(next);
      }
    });
  }

  #settle(): void {
    if (this.#isSettled || !(this.#isClosed || this.connection?.hold)) return;
    this.#isSettled = true;
    this.#host.settled();
  }

  /** Before the login nothing is written: the address may be forged, and its owner has not asked for anything. */
  write(bytes: Buffer, onWritten?: (error?: Error | null) => void): void {
    if (this.#isClosed || !this.connection?.hold) {
      onWritten?.(new Error("The peer is closed."));
      return;
    }
    this.writableLength += bytes.length;
    this.#socket.send(bytes, this.#port, this.#address, (error) => {
      this.writableLength -= bytes.length;
      onWritten?.(error);
      if (this.#isClosing && this.writableLength === 0) this.destroy();
    });
  }

  destroySoon(): void {
    this.#isClosing = true;
    if (this.writableLength === 0) this.destroy();
  }

  destroy(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { length } of this.#waiting) this.#host.release(length);
    this.#waiting = [];
    this.#settle();
    this.#host.closed(this);
    setImmediate(() => this.connection?.onClosed());
  }
}
