/** How long somebody has waited lately. Whoever makes them wait notes it, and whoever could give way looks. */
export class RecentWaits {
  #count = 0;
  #maxMs = 0;

  note(waitedMs: number): void {
    this.#count++;
    this.#maxMs = Math.max(this.#maxMs, waitedMs);
  }

  /** What was noted since the last look; there is one who looks. */
  take(): { count: number; maxMs: number } {
    const taken = { count: this.#count, maxMs: this.#maxMs };
    this.#count = 0;
    this.#maxMs = 0;
    return taken;
  }
}
