import type { Socket } from "node:net";
import { NetworkList } from "../lib/network-list.ts";
import { readProxyHeader } from "./proxy-header.ts";

export interface ProxiedSocketsOptions {
  /** Of the proxies, in CIDR form. A header from anywhere else is never believed. */
  networks: readonly string[];
  /** Sockets at a time whose header has not come. */
  maxWaiting: number;
  timeoutMs: number;
}

/** Sockets of proxies, which tell the address of their client before its first byte. */
export class ProxiedSockets {
  readonly #networks: NetworkList;
  readonly #options: ProxiedSocketsOptions;
  readonly #waiting = new Set<Socket>();

  constructor(options: ProxiedSocketsOptions) {
    this.#options = options;
    this.#networks = new NetworkList(options.networks);
  }

  /** Whether the socket must begin with a header. */
  includes(socket: Socket): boolean {
    return !this.#networks.isEmpty && this.#networks.includes(socket.remoteAddress ?? "");
  }

  /** Calls `onAddress` when the header was read, with the client's bytes still to come; or destroys the socket. */
  await(socket: Socket, onAddress: (address: string) => void, onRefused: () => void): void {
    let bytes: Buffer = Buffer.alloc(0);
    const settle = (): void => {
      clearTimeout(timer);
      this.#waiting.delete(socket);
      socket.off("data", onData).off("end", refuse).off("close", settle).off("error", ignore);
    };
    const refuse = (): void => {
      settle();
      socket.on("error", ignore).destroy();
      onRefused();
    };
    const onData = (chunk: Buffer): void => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const header = readProxyHeader(bytes);
      if (header === "wait") return;
      if (header === "invalid") {
        refuse();
        return;
      }
      settle();
      socket.pause();
      if (bytes.length > header.length) socket.unshift(bytes.subarray(header.length));
      // It flows again with the next turn, when the listeners of the connection are in place.
      socket.resume();
      onAddress(header.address ?? socket.remoteAddress ?? "");
    };
    const timer = setTimeout(refuse, this.#options.timeoutMs);
    if (this.#waiting.size >= this.#options.maxWaiting) {
      refuse();
      return;
    }
    this.#waiting.add(socket);
    socket.on("data", onData).on("end", refuse).on("close", settle).on("error", ignore);
  }

  close(): void {
    for (const socket of this.#waiting) socket.destroy();
  }
}

/** The close that follows says all there is. */
function ignore(): void {}
