/** Whoever wants to begin an attempt. */
export interface SlotUser {
  pump(): void;
}

/** The attempts that a process may have under way. Lanes that find none free are called in turn, so that no one is starved. */
export class Slots {
  readonly #most: number;
  readonly #waiting = new Set<SlotUser>();
  readonly #invited = new Set<SlotUser>();
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get taken(): number {
    return this.#taken;
  }

  get isFull(): boolean {
    return this.#taken >= this.#most;
  }

  take(user: SlotUser): boolean {
    if (this.#invited.delete(user)) return true;
    if (this.isFull) {
      this.#waiting.add(user);
      return false;
    }
    this.#taken++;
    return true;
  }

  /** The place goes to who waits longest, and to nobody who comes meanwhile. */
  release(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#taken--;
      return;
    }
    this.#waiting.delete(next);
    this.#invited.add(next);
    queueMicrotask(() => {
      next.pump();
      if (this.#invited.delete(next)) this.release();
    });
  }

  leave(user: SlotUser): void {
    this.#waiting.delete(user);
    if (this.#invited.delete(user)) this.release();
  }
}
