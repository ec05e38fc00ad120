/** Counts of a whole fleet. One object for all devices. */
export class Tally {
  connections = 0;
  online = 0;
  sent = 0;
  /** Packets that the protocol answers; the others are only sent. */
  expectingAnswer = 0;
  acked = 0;
  resent = 0;
  /** Oldest stored reports that gave way to newer ones. */
  dropped = 0;
  alarms = 0;
  commands = 0;
  texts = 0;
  /** Commands that were left without an answer, refused, or done late, because a test wanted it. */
  defied = 0;
  settings = 0;
  rings = 0;
  voiceSent = 0;
  voiceReceived = 0;
  voicePartsReceived = 0;
  /** Put together, and no voice. */
  brokenVoices = 0;
  ecgSent = 0;
  refusedLogins = 0;
  unreadable = 0;
  /** By cause, as the system calls them. */
  readonly failures = new Map<string, number>();
  lastFailure: string | undefined;
  readonly #waits = new Uint32Array(64);
  #maxMs = 0;

  failed(cause: string): void {
    this.failures.set(cause, (this.failures.get(cause) ?? 0) + 1);
    this.lastFailure = cause;
  }

  get errors(): number {
    let sum = this.refusedLogins + this.unreadable;
    for (const count of this.failures.values()) sum += count;
    return sum;
  }

  /** From writing a packet to its answer. Kept in classes a fifth apart, so that millions cost nothing. */
  waited(ms: number): void {
    const index = ms < 1 ? 0 : Math.min(this.#waits.length - 1, 1 + Math.floor(Math.log(ms) / Math.log(1.2)));
    this.#waits[index] = (this.#waits[index] as number) + 1;
    this.#maxMs = Math.max(this.#maxMs, ms);
  }

  /** The upper end of the class in which this share of all waits has ended; null without any. */
  waitMs(share: number): number | null {
    const total = this.#waits.reduce((sum, count) => sum + count, 0);
    if (total === 0) return null;
    let seen = 0;
    for (const [index, count] of this.#waits.entries()) {
      seen += count;
      if (seen >= total * share) return Math.round(Math.min(1.2 ** index, this.#maxMs) * 10) / 10;
    }
    return this.#maxMs;
  }
}
