/**
 * Tokens that do not exist, counted by network in the memory of this process. Above the limit further unknown tokens of the
 * network are refused without asking the database; tokens that were seen a moment ago are not looked up and go on working.
 */
export class TokenMisses {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #maxNetworks: number;
  readonly #networks = new Map<string, { startedAtMs: number; count: number }>();

  constructor({ limit = 3000, windowMs = 60_000, maxNetworks = 10_000 } = {}) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#maxNetworks = maxNetworks;
  }

  /** Seconds to wait, or 0. */
  waitSeconds(network: string, nowMs: number): number {
    const entry = this.#networks.get(network);
    if (!entry || entry.count < this.#limit) return 0;
    return Math.max(0, Math.ceil((entry.startedAtMs + this.#windowMs - nowMs) / 1000));
  }

  add(network: string, nowMs: number): void {
    const entry = this.#networks.get(network);
    if (entry && nowMs - entry.startedAtMs < this.#windowMs) {
      entry.count++;
      return;
    }
    this.#networks.delete(network);
    if (this.#networks.size >= this.#maxNetworks) this.#networks.delete(this.#networks.keys().next().value as string);
    this.#networks.set(network, { startedAtMs: nowMs, count: 1 });
  }
}
