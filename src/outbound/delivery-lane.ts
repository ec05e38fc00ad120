import { laneIdAt, positionOfLaneId } from "../resources/outbound-events/lane-ids.ts";
import { isShown } from "../resources/outbound-events/shown-gate.ts";
import { resultOf } from "./attempt-result.ts";
import type { RecordedLane } from "./delivery-recorder.ts";
import {
  type LogRow,
  type RetryRow,
  type RowChange,
  readEnd,
  readLog,
  readOpen,
  readPassed,
  readRetries,
} from "./delivery-store.ts";
import { LanePace, probeEveryMs } from "./lane-pace.ts";
import type { LaneParts } from "./lane-parts.ts";
import { type ClaimedLane, type PushSettings, readSettings } from "./lane-store.ts";
import { LaneWindow, type WindowEntry } from "./lane-window.ts";
import { RetryQueue } from "./retry-queue.ts";
import type { Answer, WebhookTarget } from "./webhook-client.ts";
import { webhookHeaders } from "./webhook-signature.ts";

const pageRows = 256;
const skippedPageRows = 4096;
const lowWater = 64;
const mostInHand = 2000;
/** A first attempt that takes longer is put on record, so that a crash repeats little of what came after it. */
const slowMs = 1000;
const recheckMs = 5000;
const pauseAfterErrorMs = 500;

/**
 * Pushes the log of one integration: rows in order, several at a time, failed ones again when they are due. Whatever its
 * receiver does, it costs others no more than a bounded number of sockets and rows in memory.
 */
export class DeliveryLane implements RecordedLane {
  readonly integrationId: string;
  readonly #organizationId: string;
  readonly #parts: LaneParts;
  readonly #window: LaneWindow;
  readonly #pace: LanePace;
  #settings: PushSettings;
  #target: { url: string; to: WebhookTarget } | undefined;
  #isClosed = false;
  #isStopped = false;
  #inFlight = 0;
  #freshInFlight = 0;
  readonly #retries: RetryQueue;
  #open = 0;
  #oldestOpen: string | null = null;
  #wakes = 1;
  #wakesRead = 0;
  #isSkipping = false;
  #passed: ReadonlySet<string> | undefined;
  #loading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #idleSinceMs: number | undefined;

  constructor(claimed: ClaimedLane, settings: PushSettings, parts: LaneParts) {
    this.integrationId = claimed.integrationId;
    this.#organizationId = claimed.organizationId;
    this.#parts = parts;
    this.#settings = settings;
    this.#pace = new LanePace(parts.mostInFlight);
    this.#window = new LaneWindow({ ms: claimed.cursorMs, seq: claimed.cursorSeq });
    this.#retries = new RetryQueue(claimed.retryAt);
  }

  /** There may be new rows. */
  wake(): void {
    this.#wakes++;
    this.pump();
  }

  /** There may be open deliveries that this lane has not made. */
  wakeRetries(): void {
    this.#retries.nextDueMs = 0;
    this.pump();
  }

  /** The settings as they are now; read after any row they are applied to. */
  refresh(settings: PushSettings | undefined): void {
    if (this.#isClosed) return;
    if (!settings || settings.epoch === null || settings.url === null || settings.secret === null) {
      this.close();
      return;
    }
    if (settings.epoch !== this.#settings.epoch) this.#retries.clear();
    this.#settings = settings;
    if (this.#isBehind(settings)) this.#wakes++;
    if (this.#target && this.#target.url !== settings.url) this.#closeTarget();
  }

  idleMs(nowMs: number): number {
    return this.#idleSinceMs === undefined ? 0 : nowMs - this.#idleSinceMs;
  }

  get isBusy(): boolean {
    return this.#inFlight > 0;
  }

  get open(): number {
    return this.#open;
  }

  noteOpen(count: number, oldest: string | null): void {
    this.#open = count;
    this.#oldestOpen = oldest;
  }

  /** When the oldest row that is not delivered was made. */
  oldestMs(): number | undefined {
    const fresh = this.#window.oldestId;
    const ids = [...(fresh ? [fresh] : []), ...(this.#open > 0 && this.#oldestOpen ? [this.#oldestOpen] : [])];
    return ids.length === 0 ? undefined : Math.min(...ids.map((id) => positionOfLaneId(id).ms));
  }

  /** Begins nothing more; what is under way ends and is recorded. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Ends the lane for this process. Of what is under way only the attempt is recorded. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#parts.slots.leave(this);
    if (this.#inFlight === 0) this.#closeTarget();
    this.#parts.onClosed(this);
  }

  onLost(): void {
    if (this.#isClosed) return;
    this.#parts.log.warn({ integration: this.integrationId }, "a webhook lane was taken over by another worker");
    this.close();
  }

  pump(): void {
    const { recorder, slots } = this.#parts;
    if (this.#isClosed || this.#isStopped) return;
    clearTimeout(this.#timer);
    while (!this.#isClosed && !recorder.isBlocked && this.#inFlight < this.#pace.limit) {
      const retry = this.#retries.first;
      const entry = retry ? undefined : this.#nextEntry();
      const row = retry ?? entry?.row;
      if (!row) break;
      if (!this.#mayPush(row)) {
        if (retry) this.#dropRetry(retry);
        else if (entry) this.#window.skip(entry);
        recorder.add(this);
        continue;
      }
      if (!slots.take(this)) return;
      if (retry) this.#retries.take();
      else if (entry) this.#window.begin(entry, this.#parts.clock.nowMs());
      this.#send(row, (retry?.attempts ?? 0) + 1, entry);
    }
    if (!this.#isClosed) this.#planNext();
  }

  #mayPush(row: LogRow): row is LogRow & { body: string; pushEpoch: number } {
    const settings = this.#settings;
    return row.body !== null && row.pushEpoch === settings.epoch && isShown(row, settings, settings.scopes);
  }

  #nextEntry(): WindowEntry | undefined {
    const isHeldBack = this.#pace.isHeldBack(this.#open, this.#freshInFlight, this.#parts.clock.nowMs());
    return isHeldBack ? undefined : this.#window.next();
  }

  #send(row: LogRow & { body: string; pushEpoch: number }, attempt: number, entry: WindowEntry | undefined): void {
    const { clock } = this.#parts;
    const { secret, previousSecret, previousUntil } = this.#settings;
    const startedAtMs = clock.nowMs();
    const isOverlap = previousUntil !== null && previousUntil.getTime() > startedAtMs;
    const secrets = { current: secret ?? "", previous: isOverlap ? previousSecret : null };
    const body = Buffer.from(row.body);
    this.#inFlight++;
    if (entry) this.#freshInFlight++;
    void this.#targetNow()
      .send(webhookHeaders({ id: row.id, type: row.type, body }, attempt, secrets, startedAtMs), body)
      .then((answer) => this.#ended(row, attempt, entry, startedAtMs, answer));
  }

  #ended(
    row: LogRow & { pushEpoch: number },
    attempt: number,
    entry: WindowEntry | undefined,
    startedAtMs: number,
    answer: Answer,
  ): void {
    const { clock, recorder, slots, metrics, waitsMs } = this.#parts;
    const now = clock.now();
    const { integrationId } = this;
    const isOnRecord = entry === undefined || entry.isParked;
    const of = { integrationId, organizationId: this.#organizationId, eventId: row.id, pushEpoch: row.pushEpoch };
    const { next, record, change } = resultOf({ ...of, attempt, startedAtMs, isOnRecord }, answer, now, waitsMs);
    this.#inFlight--;
    if (entry) this.#freshInFlight--;
    slots.release();
    metrics.attempt(next.kind, answer.durationMs);
    if (next.kind === "delivered") this.#pace.succeeded();
    else this.#pace.failed(now.getTime(), answer.outcome.kind === "failed" && answer.outcome.isTimeout === true);
    if (next.kind === "retry" && !isOnRecord) this.#open++;
    if (next.kind !== "retry" && isOnRecord) this.#open--;
    if (entry) entry.isSettled = true;
    if (this.#isClosed) {
      recorder.add(undefined, record);
      if (this.#inFlight === 0) this.#closeTarget();
      return;
    }
    recorder.add(this, record, change);
    this.pump();
  }

  #targetNow(): WebhookTarget {
    const url = this.#settings.url ?? "";
    this.#target ??= { url, to: this.#parts.openTarget(url) };
    return this.#target.to;
  }

  #closeTarget(): void {
    const old = this.#target?.to;
    this.#target = undefined;
    // What is under way may end: a changed URL is no reason to send it twice.
    if (old) setTimeout(() => old.close(), this.#inFlight === 0 ? 0 : this.#parts.timeoutMs + slowMs).unref();
  }

  #dropRetry(row: RetryRow): void {
    this.#retries.take();
    this.#open--;
    const { id, pushEpoch } = row;
    const of = { integrationId: this.integrationId, organizationId: this.#organizationId, id, pushEpoch };
    this.#parts.recorder.add(this, undefined, { ...of, kind: "gone" });
  }

  parkSlow(nowMs: number): readonly RowChange[] {
    if (this.#isClosed) return [];
    return this.#window.park(nowMs - slowMs).map(({ row }) => {
      this.#retries.hold(row.id);
      this.#open++;
      return {
        integrationId: this.integrationId,
        organizationId: this.#organizationId,
        id: row.id,
        pushEpoch: row.pushEpoch ?? 0,
        kind: "open" as const,
        attempts: 0,
        // Due again if this process ends before the attempt does.
        dueAtMs: nowMs + this.#parts.timeoutMs + recheckMs,
      };
    });
  }

  advance(): { ms: number; seq: number } {
    return this.#window.advance();
  }

  onRecorded(changes: readonly RowChange[], retryAt: Date | null): void {
    this.#retries.recorded(changes, retryAt);
    if (!this.#isClosed) this.#planNext();
  }

  /** Reads more if there is room for it; otherwise sleeps until a retry is due. */
  #planNext(): void {
    clearTimeout(this.#timer);
    if (this.#loading || this.#isClosed || this.#isStopped) return;
    if (this.#window.size >= mostInHand) this.#window.advance();
    const nowMs = this.#parts.clock.nowMs();
    const hasRoom = !this.#parts.recorder.isBlocked;
    const wantsRetries = hasRoom && this.#retries.isEmpty && this.#retries.nextDueMs <= nowMs;
    const wantsPage =
      hasRoom && this.#wakes > this.#wakesRead && this.#window.waiting < lowWater && this.#window.size < mostInHand;
    if (wantsRetries || wantsPage) {
      this.#load(wantsRetries, wantsPage);
      return;
    }
    const isIdle =
      this.#inFlight === 0 && this.#window.waiting === 0 && this.#retries.held.length === 0 && this.#open <= 0;
    this.#idleSinceMs = isIdle ? (this.#idleSinceMs ?? nowMs) : undefined;
    const { failedMs } = this.#pace;
    const { nextDueMs, checkedMs } = this.#retries;
    const wakeAtMs = Math.min(
      nextDueMs,
      this.#window.waiting > 0 && failedMs !== undefined ? failedMs + probeEveryMs : nextDueMs,
      this.#open > 0 ? checkedMs + recheckMs : nextDueMs,
    );
    if (wakeAtMs === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(
      () => {
        const isRecheckDue = this.#open > 0 && this.#parts.clock.nowMs() >= checkedMs + recheckMs;
        if (isRecheckDue && this.#retries.isEmpty) this.wakeRetries();
        else this.pump();
      },
      Math.min(60_000, Math.max(1, wakeAtMs - nowMs)),
    );
  }

  #load(wantsRetries: boolean, wantsPage: boolean): void {
    const { reads, log } = this.#parts;
    this.#idleSinceMs = undefined;
    this.#loading = reads(async () => {
      if (this.#passed === undefined) await this.#recover();
      if (wantsRetries) await this.#loadRetries();
      if (wantsPage) await this.#loadPage();
    })
      .catch(async (error: unknown) => {
        log.debug(
          { err: error, integration: this.integrationId },
          "a webhook lane could not read, will be tried again",
        );
        await new Promise((resolve) => setTimeout(resolve, pauseAfterErrorMs).unref());
      })
      .finally(() => {
        this.#loading = undefined;
        if (!this.#isClosed) this.pump();
      });
  }

  async #recover(): Promise<void> {
    const { db } = this.#parts;
    const passed = await readPassed(db, this.integrationId, this.#readUpTo());
    const [open] = await readOpen(db, [this.integrationId]);
    if (open) this.noteOpen(open.count, open.oldest);
    this.#passed = passed;
  }

  #readUpTo(): string {
    const { ms, seq } = this.#window.cursor;
    return this.#window.lastId ?? laneIdAt({ lane: this.#settings.lane, lastMs: ms, lastSeq: seq });
  }

  /** Whether the log has rows that were not read, also when nobody has said so. */
  #isBehind({ lastMs, lastSeq }: PushSettings): boolean {
    const { lastId, cursor } = this.#window;
    const { ms, seq } = lastId === undefined ? cursor : positionOfLaneId(lastId);
    return lastMs > ms || (lastMs === ms && lastSeq > seq);
  }

  async #loadRetries(): Promise<void> {
    const { db, clock, mostInFlight } = this.#parts;
    const now = clock.now();
    const limit = 2 * mostInFlight;
    const rows = await readRetries(db, this.integrationId, { now, busy: this.#retries.held, limit });
    await this.#refreshFor(rows);
    this.#retries.fill(rows, now, limit);
  }

  async #loadPage(): Promise<void> {
    const { db } = this.#parts;
    const { epoch } = this.#settings;
    if (epoch === null) return;
    const wakes = this.#wakes;
    const limit = this.#isSkipping ? skippedPageRows : pageRows;
    const after = this.#readUpTo();
    const rows = await readLog(db, this.integrationId, { after, epoch, limit });
    await this.#refreshFor(rows);
    // Rows of the new epoch came without their bodies: they are read again.
    if (this.#isClosed || this.#settings.epoch !== epoch) return;
    const passed = this.#passed ?? new Set();
    this.#window.add(rows.map((row) => (passed.has(row.id) ? { ...row, pushEpoch: null } : row)));
    this.#isSkipping = rows.length > 0 && rows.every(({ body }) => body === null);
    if (rows.length < limit) this.#wakesRead = wakes;
    if (rows.length === 0) await this.#jumpToEnd(after);
  }

  /** Rows that retention has taken would look like work forever. */
  async #jumpToEnd(after: string): Promise<void> {
    if (this.#window.size > 0 || !this.#isBehind(this.#settings)) return;
    const end = await readEnd(this.#parts.db, this.integrationId, after);
    if (!end) return;
    this.#window.jump(end);
    this.#parts.recorder.add(this);
  }

  /** Rows are judged by settings that are at least as new as they are: what was allowed before them must not be skipped. */
  async #refreshFor([row]: readonly LogRow[]): Promise<void> {
    if (row === undefined || row.version === this.#settings.version) return;
    const [settings] = await readSettings(this.#parts.db.point, [this.integrationId]);
    this.refresh(settings);
  }
}
