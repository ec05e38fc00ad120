import type { RetryRow, RowChange } from "./delivery-store.ts";

const never = Number.POSITIVE_INFINITY;

/** The open deliveries of one lane: those that are due and in hand, and when the next one is due. */
export class RetryQueue {
  /** Due, with their bodies. */
  #due: RetryRow[] = [];
  /** In hand: waiting in #due, in progress, or not on record yet. */
  readonly #held = new Set<string>();
  nextDueMs: number;
  /** When the table was last looked at. */
  checkedMs = 0;

  constructor(retryAt: Date | null) {
    this.nextDueMs = retryAt === null ? never : retryAt.getTime();
  }

  get first(): RetryRow | undefined {
    return this.#due[0];
  }

  get isEmpty(): boolean {
    return this.#due.length === 0;
  }

  get held(): readonly string[] {
    return [...this.#held];
  }

  hold(id: string): void {
    this.#held.add(id);
  }

  /** It is in progress, or dropped; it stays held until that is on record. */
  take(): void {
    this.#due.shift();
  }

  /** Forgets what was read, to read it again. */
  clear(): void {
    for (const { id } of this.#due) this.#held.delete(id);
    this.#due = [];
    this.nextDueMs = 0;
  }

  /** Rows in order of their time, at most `limit`: if there were as many, there may be more. */
  fill(rows: readonly RetryRow[], now: Date, limit: number): void {
    for (const row of rows) {
      if (row.dueAt > now) break;
      this.#held.add(row.id);
      this.#due.push(row);
    }
    this.checkedMs = now.getTime();
    const later = rows.find(({ dueAt }) => dueAt > now);
    this.nextDueMs = later ? later.dueAt.getTime() : rows.length === limit ? now.getTime() : never;
  }

  recorded(changes: readonly RowChange[], retryAt: Date | null): void {
    for (const change of changes) {
      // Still in progress; it was put on record only because it takes long.
      if (change.kind === "open" && change.attempts === 0) continue;
      this.#held.delete(change.id);
      if (change.kind === "open") this.nextDueMs = Math.min(this.nextDueMs, change.dueAtMs);
    }
    if (this.#held.size === 0 && retryAt !== null) this.nextDueMs = Math.min(this.nextDueMs, retryAt.getTime());
  }
}
