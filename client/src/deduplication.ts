/**
 * What a receiver asks about an event's id. Delivery is at least once, and attempts may overlap, so there are three answers: `new`
 * (handle it; it is now in progress), `in_progress` (another attempt is at it) and `done`.
 */
export interface Deduplication {
  begin(id: string): "new" | "in_progress" | "done" | Promise<"new" | "in_progress" | "done">;
  done(id: string): void | Promise<void>;
  /** The handler failed: the next attempt is new again. */
  failed(id: string): void | Promise<void>;
}

const defaultMaxIds = 100_000;

/** For one process, and until it ends. Several processes share a table of a database instead. */
export function memoryDeduplication({ maxIds = defaultMaxIds }: { maxIds?: number } = {}): Deduplication {
  const isDone = new Map<string, boolean>();
  return {
    begin: (id) => {
      const known = isDone.get(id);
      if (known === undefined) isDone.set(id, false);
      return known === undefined ? "new" : known ? "done" : "in_progress";
    },
    done: (id) => {
      // Set anew, so that the oldest end stands first.
      isDone.delete(id);
      isDone.set(id, true);
      for (const [oldest, oldestIsDone] of isDone) {
        if (isDone.size <= maxIds) break;
        if (oldestIsDone) isDone.delete(oldest);
      }
    },
    failed: (id) => {
      isDone.delete(id);
    },
  };
}
