import type { Database } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { type AttemptRecord, type RowChange, writeBatch } from "./delivery-store.ts";

/** What the recorder needs of a lane. */
export interface RecordedLane {
  readonly integrationId: string;
  /** Rows that have been in progress for long; from now on they do not hold up the cursor. */
  parkSlow(nowMs: number): readonly RowChange[];
  advance(): { ms: number; seq: number };
  /** The changes are on record; `retryAt` is the earliest retry of the lane. */
  onRecorded(changes: readonly RowChange[], retryAt: Date | null): void;
  /** Another worker has the lane. */
  onLost(): void;
}

interface Pending {
  attempts: AttemptRecord[];
  /** The latest change of each row. */
  changes: Map<string, RowChange>;
  lanes: Map<string, RecordedLane>;
}

const fresh = (): Pending => ({ attempts: [], changes: new Map(), lanes: new Map() });
const gatherMs = 25;
const enough = 500;
const maxPending = 2000;
const firstPauseMs = 250;
const maxPauseMs = 2000;

/**
 * Puts on record what became of attempts, in batches of all lanes. A crash loses at most what was gathered, and those rows are
 * sent again. While the database is away nothing new is begun, so that this stays little.
 */
export class DeliveryRecorder {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #owner: string;
  readonly #onFree: () => void;
  #pending = fresh();
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = 0;

  constructor(parts: { db: Database; clock: Clock; log: Logger; owner: string; onFree: () => void }) {
    this.#db = parts.db;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#owner = parts.owner;
    this.#onFree = parts.onFree;
  }

  /** True while no attempt may begin. */
  get isBlocked(): boolean {
    return this.#pauseMs > 0 || this.#pending.attempts.length >= maxPending;
  }

  /** Without a lane: it was given up meanwhile, and only the attempt is still of interest. */
  add(lane: RecordedLane | undefined, attempt?: AttemptRecord, change?: RowChange): void {
    if (lane) this.#pending.lanes.set(lane.integrationId, lane);
    if (attempt) this.#pending.attempts.push(attempt);
    if (change) this.#pending.changes.set(`${change.integrationId} ${change.id}`, change);
    if (this.#pauseMs > 0 || this.#writing) return;
    if (this.#pending.attempts.length >= enough) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), gatherMs);
  }

  /** Waits until everything is on record, or until the database refuses. */
  async flush(): Promise<void> {
    await this.#writing;
    if (this.#isEmpty) return;
    this.#write();
    await this.#writing;
  }

  get #isEmpty(): boolean {
    return this.#pending.lanes.size === 0 && this.#pending.attempts.length === 0;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#pending;
    this.#pending = fresh();
    const wasBlocked = this.#pauseMs > 0 || batch.attempts.length >= maxPending;
    this.#writing = this.#store(batch)
      .then(
        () => {
          this.#pauseMs = 0;
        },
        (error: unknown) => {
          if (this.#pauseMs === 0) this.#log.warn({ err: error }, "deliveries could not be recorded; retrying");
          this.#pauseMs = Math.min(maxPauseMs, Math.max(firstPauseMs, this.#pauseMs * 2));
          this.#putBack(batch);
        },
      )
      .finally(() => {
        this.#writing = undefined;
        if (this.#pauseMs > 0) this.#timer ??= setTimeout(() => this.#write(), this.#pauseMs);
        else if (!this.#isEmpty) {
          if (this.#pending.attempts.length >= enough) this.#write();
          else this.#timer ??= setTimeout(() => this.#write(), gatherMs);
        }
        if (wasBlocked && this.#pauseMs === 0) this.#onFree();
      });
  }

  async #store({ attempts, changes, lanes }: Pending): Promise<void> {
    const nowMs = this.#clock.nowMs();
    for (const lane of lanes.values()) {
      for (const change of lane.parkSlow(nowMs)) changes.set(`${change.integrationId} ${change.id}`, change);
    }
    const cursors = [...lanes.values()].map((lane) => ({ integrationId: lane.integrationId, ...lane.advance() }));
    const batch = { owner: this.#owner, attempts, changes: [...changes.values()], cursors };
    const retries = await writeBatch(this.#db, batch);
    const byLane = new Map<string, RowChange[]>([...lanes.keys()].map((id) => [id, []]));
    for (const change of batch.changes) byLane.get(change.integrationId)?.push(change);
    for (const lane of lanes.values()) {
      const retryAt = retries.get(lane.integrationId);
      if (retryAt === undefined) lane.onLost();
      else lane.onRecorded(byLane.get(lane.integrationId) ?? [], retryAt);
    }
  }

  /** Older than what came meanwhile, which therefore wins. */
  #putBack(batch: Pending): void {
    const { attempts, changes, lanes } = this.#pending;
    this.#pending = {
      attempts: [...batch.attempts, ...attempts],
      changes: new Map([...batch.changes, ...changes]),
      lanes: new Map([...batch.lanes, ...lanes]),
    };
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
