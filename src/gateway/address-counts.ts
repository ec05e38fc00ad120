import type { GatewayLimits } from "./gateway-limits.ts";

/** Connections per network, which is an IPv4 address or an IPv6 /64: those open, and those opened in the current minute. */
export class AddressCounts {
  readonly #limits: Pick<GatewayLimits, "connectionsPerAddress" | "newPerAddressPerMinute">;
  readonly #open = new Map<string, number>();
  #opened = new Map<string, number>();
  #minute = 0;

  constructor(limits: Pick<GatewayLimits, "connectionsPerAddress" | "newPerAddressPerMinute">) {
    this.#limits = limits;
  }

  /** False: one too many. A counted network is to be released. */
  admit(network: string, nowMs: number): boolean {
    const minute = Math.floor(nowMs / 60_000);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#opened = new Map();
    }
    const opened = (this.#opened.get(network) ?? 0) + 1;
    this.#opened.set(network, opened);
    const open = (this.#open.get(network) ?? 0) + 1;
    if (opened > this.#limits.newPerAddressPerMinute || open > this.#limits.connectionsPerAddress) return false;
    this.#open.set(network, open);
    return true;
  }

  release(network: string): void {
    const open = (this.#open.get(network) ?? 0) - 1;
    if (open > 0) this.#open.set(network, open);
    else this.#open.delete(network);
  }
}
