import { laneIdAt, positionOfLaneId } from "../outbox/lane-ids.ts";
import type { RecordedLane } from "./delivery-recorder.ts";
import { type LogRow, readEnd, readLog, readOpen, readPassed, readRetries } from "./delivery-store.ts";
import type { LaneParts } from "./lane-parts.ts";
import { type PushSettings, readSettings } from "./lane-store.ts";
import type { LaneWindow } from "./lane-window.ts";
import type { RetryQueue } from "./retry-queue.ts";

const pageRows = 256;
const skippedPageRows = 4096;
const lowWater = 64;
const maxWindowRows = 2000;
const pauseAfterErrorMs = 500;

/** The lane that is read for. */
export interface ReadingLane extends RecordedLane {
  readonly settings: PushSettings;
  readonly isClosed: boolean;
  refresh(settings: PushSettings | undefined): void;
  noteOpen(count: number, oldest: string | null): void;
}

/** Reads what a lane has to send, when it has room for it: rows of the log into its window, and retries that are due. */
export class LaneReader {
  readonly #lane: ReadingLane;
  readonly #window: LaneWindow;
  readonly #retries: RetryQueue;
  readonly #parts: LaneParts;
  #wakes = 1;
  #wakesRead = 0;
  #isSkipping = false;
  #passed: ReadonlySet<string> | undefined;
  #isReading = false;

  constructor(lane: ReadingLane, window: LaneWindow, retries: RetryQueue, parts: LaneParts) {
    this.#lane = lane;
    this.#window = window;
    this.#retries = retries;
    this.#parts = parts;
  }

  get isReading(): boolean {
    return this.#isReading;
  }

  /** There may be new rows. */
  wake(): void {
    this.#wakes++;
  }

  /** Whether the log has rows that were not read, also when nobody has said so. */
  hasUnreadRows({ lastMs, lastSeq }: PushSettings): boolean {
    const { lastId, cursor } = this.#window;
    const { ms, seq } = lastId === undefined ? cursor : positionOfLaneId(lastId);
    return lastMs > ms || (lastMs === ms && lastSeq > seq);
  }

  /** Undefined if there is nothing to read, or no room. What it gives ends well, also when the database does not answer. */
  readMore(nowMs: number): Promise<void> | undefined {
    if (this.#window.size >= maxWindowRows) this.#window.advance();
    const wantsRetries = this.#retries.isEmpty && this.#retries.nextDueMs <= nowMs;
    const wantsPage =
      this.#wakes > this.#wakesRead && this.#window.waiting < lowWater && this.#window.size < maxWindowRows;
    return wantsRetries || wantsPage ? this.#read(wantsRetries, wantsPage) : undefined;
  }

  async #read(wantsRetries: boolean, wantsPage: boolean): Promise<void> {
    const { reads, log } = this.#parts;
    const { integrationId } = this.#lane;
    this.#isReading = true;
    try {
      await reads(async () => {
        if (this.#passed === undefined) await this.#recover();
        if (wantsRetries) await this.#readRetries();
        if (wantsPage) await this.#readPage();
      });
    } catch (error) {
      log.debug({ err: error, integration: integrationId }, "a webhook lane could not read its rows; retrying");
      await new Promise((resolve) => setTimeout(resolve, pauseAfterErrorMs).unref());
    } finally {
      this.#isReading = false;
    }
  }

  async #recover(): Promise<void> {
    const { db } = this.#parts;
    const { integrationId } = this.#lane;
    const passed = await readPassed(db, integrationId, this.#readUpTo());
    const [open] = await readOpen(db, [integrationId]);
    if (open) this.#lane.noteOpen(open.count, open.oldest);
    this.#passed = passed;
  }

  #readUpTo(): string {
    const { ms, seq } = this.#window.cursor;
    return this.#window.lastId ?? laneIdAt({ lane: this.#lane.settings.lane, lastMs: ms, lastSeq: seq });
  }

  async #readRetries(): Promise<void> {
    const { db, clock, maxInFlight } = this.#parts;
    const now = clock.now();
    const limit = 2 * maxInFlight;
    const rows = await readRetries(db, this.#lane.integrationId, { now, busy: this.#retries.held, limit });
    await this.#refreshFor(rows);
    this.#retries.fill(rows, now, limit);
  }

  async #readPage(): Promise<void> {
    const lane = this.#lane;
    const { epoch } = lane.settings;
    if (epoch === null) return;
    const wakes = this.#wakes;
    const limit = this.#isSkipping ? skippedPageRows : pageRows;
    const after = this.#readUpTo();
    const rows = await readLog(this.#parts.db, lane.integrationId, { after, epoch, limit });
    await this.#refreshFor(rows);
    // Rows of the new epoch came without their bodies: they are read again.
    if (lane.isClosed || lane.settings.epoch !== epoch) return;
    const passed = this.#passed ?? new Set();
    this.#window.add(rows.map((row) => (passed.has(row.id) ? { ...row, pushEpoch: null } : row)));
    this.#isSkipping = rows.length > 0 && rows.every(({ body }) => body === null);
    if (rows.length < limit) this.#wakesRead = wakes;
    if (rows.length === 0) await this.#jumpToEnd(after);
  }

  /** Rows that retention has taken would look like work forever. */
  async #jumpToEnd(after: string): Promise<void> {
    if (this.#window.size > 0 || !this.hasUnreadRows(this.#lane.settings)) return;
    const end = await readEnd(this.#parts.db, this.#lane.integrationId, after);
    if (!end) return;
    this.#window.jump(end);
    this.#parts.recorder.add(this.#lane);
  }

  /** Rows are judged by settings that are at least as new as they are: what was allowed before them must not be skipped. */
  async #refreshFor([row]: readonly LogRow[]): Promise<void> {
    if (row === undefined || row.version === this.#lane.settings.version) return;
    const [settings] = await readSettings(this.#parts.db.point, [this.#lane.integrationId], this.#parts.secrets);
    this.#lane.refresh(settings);
  }
}
