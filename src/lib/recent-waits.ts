/** How long somebody has waited lately. Whoever makes them wait notes it, and whoever could give way looks. */
export class RecentWaits {
  #count = 0;
  #maxMs = 0;
  #isWaiting = (): boolean => false;

  note(waitedMs: number): void {
    this.#count++;
    this.#maxMs = Math.max(this.#maxMs, waitedMs);
  }

  /** Says whether somebody is waiting now, which nobody has noted yet. */
  watch(isWaiting: () => boolean): void {
    this.#isWaiting = isWaiting;
  }

  /** What was noted since the last look; there is one who looks. */
  take(): { count: number; maxMs: number; isWaiting: boolean } {
    const taken = { count: this.#count, maxMs: this.#maxMs, isWaiting: this.#isWaiting() };
    this.#count = 0;
    this.#maxMs = 0;
    return taken;
  }
}
