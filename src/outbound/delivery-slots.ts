/** Whoever wants to begin an attempt. */
export interface SlotUser {
  pump(): void;
}

/** New rows are sent as they come. Late ones have waited: rows of a backlog, and attempts that failed before. */
export type RowAge = "new" | "late";

/** Kept free of late rows, so that receivers that hang do not delay the new rows of others. */
const reservedShare = 1 / 8;

/**
 * The attempts that a process may have in progress. Lanes that find none free are called in turn, so that no one is starved, and
 * those with new rows first: lanes that have fallen behind give way to those that have not.
 */
export class Slots {
  readonly #max: number;
  readonly #maxLate: number;
  readonly #waiting = { new: new Set<SlotUser>(), late: new Set<SlotUser>() };
  readonly #invited = new Map<SlotUser, RowAge>();
  readonly #upToDate = new Set<SlotUser>();
  readonly #taken = { new: 0, late: 0 };
  #lateLimit: number;
  /** Late rows that may begin until the next allowance. */
  #lateStarts = Number.POSITIVE_INFINITY;
  /** Attempts that have begun since the start. */
  readonly begun: Record<RowAge, number> = { new: 0, late: 0 };

  constructor(max: number) {
    this.#max = max;
    this.#maxLate = Math.max(1, Math.floor(max * (1 - reservedShare)));
    this.#lateLimit = this.#maxLate;
  }

  get taken(): number {
    return this.#taken.new + this.#taken.late;
  }

  get lateTaken(): number {
    return this.#taken.late;
  }

  get isFull(): boolean {
    return this.taken >= this.#max;
  }

  /** Whether there is somebody to give way to: a lane that has sent new rows and has not fallen behind since. */
  get hasUpToDate(): boolean {
    return this.#upToDate.size > 0;
  }

  /** How many late rows may be in progress, of those that the process can have. */
  limitLate(limit: number): void {
    this.#lateLimit = Math.min(this.#maxLate, limit);
    for (let free = this.#lateLimit - this.#taken.late; free > 0 && this.#waiting.late.size > 0; free--) {
      if (!this.#inviteNext()) return;
    }
  }

  /** Lets so many late rows begin until the next call. */
  allowLate(starts: number): void {
    this.#lateStarts = starts;
    while (this.#inviteNext());
  }

  take(user: SlotUser, age: RowAge): boolean {
    if (age === "new") this.#upToDate.add(user);
    else this.#upToDate.delete(user);
    if (this.#withdraw(user) === undefined && !this.#isFree(age)) {
      this.#waiting[age].add(user);
      return false;
    }
    this.#reserve(age);
    this.begun[age]++;
    return true;
  }

  /** The slot goes to the lane that has waited longest, never to one that arrives in the meantime. */
  release(age: RowAge): void {
    this.#taken[age]--;
    this.#inviteNext();
  }

  leave(user: SlotUser): void {
    this.#upToDate.delete(user);
    this.#waiting.new.delete(user);
    this.#waiting.late.delete(user);
    if (this.#withdraw(user) !== undefined) this.#inviteNext();
  }

  #reserve(age: RowAge): void {
    this.#taken[age]++;
    if (age === "late") this.#lateStarts--;
  }

  /** Takes an invitation back, with all that was reserved for it. */
  #withdraw(user: SlotUser): RowAge | undefined {
    const age = this.#invited.get(user);
    if (age === undefined) return undefined;
    this.#invited.delete(user);
    this.#taken[age]--;
    if (age === "late") this.#lateStarts++;
    return age;
  }

  #isFree(age: RowAge): boolean {
    return !this.isFull && (age === "new" || (this.#taken.late < this.#lateLimit && this.#lateStarts > 0));
  }

  #inviteNext(): boolean {
    const age = this.#waiting.new.size > 0 ? "new" : "late";
    const [next] = this.#waiting[age];
    if (!next || !this.#isFree(age)) return false;
    // It may wait for both, and what is reserved for it twice would be given back once.
    this.#waiting.new.delete(next);
    this.#waiting.late.delete(next);
    this.#invited.set(next, age);
    this.#reserve(age);
    queueMicrotask(() => {
      next.pump();
      if (this.#withdraw(next) !== undefined) this.#inviteNext();
    });
    return true;
  }
}
