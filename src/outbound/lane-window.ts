import { positionOfLaneId } from "../outbox/lane-ids.ts";
import type { LogRow } from "./delivery-store.ts";

/** A row of the log between the cursor and the end of what was read. */
export interface WindowEntry {
  row: LogRow;
  /** 0: not begun. */
  startedAtMs: number;
  /** Delivered, on record elsewhere, or not to be pushed: the cursor may pass. */
  isSettled: boolean;
  /** The cursor has passed it although its first attempt is in progress. */
  isParked: boolean;
}

/**
 * The part of the log that one lane has in hand, in order. Rows are begun in order and end in any; the cursor stands before the
 * first that has not ended.
 */
export class LaneWindow {
  readonly #entries: WindowEntry[] = [];
  #next = 0;
  #cursor: { ms: number; seq: number };

  constructor(cursor: { ms: number; seq: number }) {
    this.#cursor = cursor;
  }

  get cursor(): { ms: number; seq: number } {
    return this.#cursor;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Rows that have not been begun. */
  get waiting(): number {
    return this.#entries.length - this.#next;
  }

  /** The id of the last row that was read. */
  get lastId(): string | undefined {
    return this.#entries.at(-1)?.row.id;
  }

  get oldestId(): string | undefined {
    return this.#entries.find(({ isSettled }) => !isSettled)?.row.id;
  }

  add(rows: readonly LogRow[]): void {
    for (const row of rows) this.#entries.push({ row, startedAtMs: 0, isSettled: false, isParked: false });
  }

  next(): WindowEntry | undefined {
    return this.#entries[this.#next];
  }

  begin(entry: WindowEntry, nowMs: number): void {
    entry.startedAtMs = nowMs;
    this.#next++;
  }

  skip(entry: WindowEntry): void {
    entry.isSettled = true;
    this.#next++;
  }

  /** Nothing is left of the log up to here. */
  jump(cursor: { ms: number; seq: number }): void {
    if (this.#entries.length === 0) this.#cursor = cursor;
  }

  /** Settles rows that have been in progress since before the time, so that they do not hold up the cursor. */
  park(sinceMs: number): WindowEntry[] {
    const slow = this.#entries.filter(
      ({ startedAtMs, isSettled }, index) => index < this.#next && !isSettled && startedAtMs <= sinceMs,
    );
    for (const entry of slow) {
      entry.isSettled = true;
      entry.isParked = true;
    }
    return slow;
  }

  /** Moves the cursor over everything that is settled, and forgets it. */
  advance(): { ms: number; seq: number } {
    let passed = 0;
    while (passed < this.#next && this.#entries[passed]?.isSettled) passed++;
    const last = this.#entries[passed - 1];
    if (last) {
      this.#cursor = positionOfLaneId(last.row.id);
      this.#entries.splice(0, passed);
      this.#next -= passed;
    }
    return this.#cursor;
  }
}
