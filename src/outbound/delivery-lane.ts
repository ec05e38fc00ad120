import { positionOfLaneId } from "../outbox/lane-ids.ts";
import { visibleBody } from "../outbox/private-params.ts";
import { isVisible } from "../outbox/visible-gate.ts";
import { resultOf } from "./attempt-result.ts";
import type { RowAge } from "./delivery-slots.ts";
import type { LogRow, RetryRow, RowChange } from "./delivery-store.ts";
import { LanePace, probeEveryMs } from "./lane-pace.ts";
import type { LaneParts } from "./lane-parts.ts";
import { LaneReader, type ReadingLane } from "./lane-reader.ts";
import type { ClaimedLane, PushSettings } from "./lane-store.ts";
import { LaneWindow, type WindowEntry } from "./lane-window.ts";
import { RetryQueue } from "./retry-queue.ts";
import { beginDelivery, endDelivery, withTrace } from "./traced-delivery.ts";
import type { Answer, WebhookTarget } from "./webhook-client.ts";
import { webhookHeaders } from "./webhook-signature.ts";

/** A first attempt that takes longer is put on record, so that a crash repeats little of what came after it. */
const slowMs = 1000;
const recheckMs = 5000;
/** A row that has waited longer belongs to a backlog, which gives way to the new rows of others. */
const lateAfterMs = 2000;

/**
 * Pushes the log of one integration: rows in order, several at a time, failed ones again when they are due. Whatever its
 * receiver does, it costs others no more than a bounded number of sockets and rows in memory.
 */
export class DeliveryLane implements ReadingLane {
  readonly integrationId: string;
  readonly #organizationId: string;
  readonly #parts: LaneParts;
  readonly #window: LaneWindow;
  readonly #pace: LanePace;
  #settings: PushSettings;
  #target: { url: string; to: WebhookTarget } | undefined;
  /**
   * Stopped: nothing more begins. Resting: the same, and it closes when what is in progress has ended. Closed: it also records no
   * more than the attempts that were in progress.
   */
  #state: "running" | "stopped" | "resting" | "closed" = "running";
  /** Its next row is a late one, or was when it last had one. */
  #isBehind = false;
  #inFlight = 0;
  #freshInFlight = 0;
  readonly #retries: RetryQueue;
  #open = 0;
  #oldestOpen: string | null = null;
  readonly #reader: LaneReader;
  #timer: NodeJS.Timeout | undefined;
  #idleSinceMs: number | undefined;

  constructor(claimed: ClaimedLane, settings: PushSettings, parts: LaneParts) {
    this.integrationId = claimed.integrationId;
    this.#organizationId = claimed.organizationId;
    this.#parts = parts;
    this.#settings = settings;
    this.#pace = new LanePace(parts.maxInFlight);
    this.#window = new LaneWindow({ ms: claimed.cursorMs, seq: claimed.cursorSeq });
    this.#retries = new RetryQueue(claimed.retryAt);
    this.#reader = new LaneReader(this, this.#window, this.#retries, parts);
  }

  get settings(): PushSettings {
    return this.#settings;
  }

  get isClosed(): boolean {
    return this.#state === "closed";
  }

  get #isRunning(): boolean {
    return this.#state === "running";
  }

  /** There may be new rows. */
  wake(): void {
    this.#reader.wake();
    this.pump();
  }

  /** There may be open deliveries that this lane has not made. */
  wakeRetries(): void {
    this.#retries.nextDueMs = 0;
    this.pump();
  }

  /** The settings as they are now; read after any row they are applied to. */
  refresh(settings: PushSettings | undefined): void {
    if (this.isClosed) return;
    if (!settings || settings.epoch === null || settings.url === null || settings.secret === null) {
      this.close();
      return;
    }
    if (settings.isPaused || this.#state === "resting") {
      this.#settings = settings;
      this.#rest();
      return;
    }
    if (settings.epoch !== this.#settings.epoch) this.#retries.clear();
    this.#settings = settings;
    if (this.#reader.hasUnreadRows(settings)) this.#reader.wake();
    if (this.#target && this.#target.url !== settings.url) this.#closeTarget();
  }

  idleMs(nowMs: number): number {
    return this.#idleSinceMs === undefined ? 0 : nowMs - this.#idleSinceMs;
  }

  get isBusy(): boolean {
    return this.#inFlight > 0;
  }

  get isBehind(): boolean {
    return this.#isBehind;
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

  /** Begins nothing more; what is in progress ends and is recorded. */
  stop(): void {
    if (this.#isRunning) this.#state = "stopped";
    clearTimeout(this.#timer);
  }

  /** Ends the lane for this process. Of what is in progress only the attempt is recorded. */
  close(): void {
    if (this.isClosed) return;
    this.#state = "closed";
    clearTimeout(this.#timer);
    this.#parts.slots.leave(this);
    if (this.#inFlight === 0) this.#closeTarget();
    this.#parts.onClosed(this);
  }

  onLost(): void {
    if (this.isClosed) return;
    this.#parts.log.warn({ integration: this.integrationId }, "a webhook lane was taken over by another worker");
    this.close();
  }

  pump(): void {
    const { recorder, slots } = this.#parts;
    if (!this.#isRunning) return;
    clearTimeout(this.#timer);
    let isRetryHeld = false;
    // A retry that has no slot yet keeps a place, or it would be called in vain.
    while (this.#isRunning && !recorder.isBlocked && this.#inFlight < this.#pace.limit - (isRetryHeld ? 1 : 0)) {
      const retry = isRetryHeld ? undefined : this.#retries.first;
      const entry = retry ? undefined : this.#nextEntry();
      const row = retry ?? entry?.row;
      if (!row) break;
      if (!this.#mayPush(row)) {
        if (retry) this.#dropRetry(retry);
        else if (entry) this.#window.skip(entry);
        recorder.add(this);
        continue;
      }
      const age = retry ? "late" : this.#ageOf(row);
      if (entry) this.#isBehind = age === "late";
      if (!slots.take(this, age)) {
        if (!retry) return;
        // New rows, an alarm among them, do not wait for what was tried before.
        isRetryHeld = true;
        continue;
      }
      if (retry) this.#retries.take();
      else if (entry) this.#window.begin(entry, this.#parts.clock.nowMs());
      this.#send(row, (retry?.attempts ?? 0) + 1, entry, age);
    }
    this.#planNext(isRetryHeld);
  }

  #mayPush(row: LogRow): row is LogRow & { body: string; pushEpoch: number } {
    const settings = this.#settings;
    return row.body !== null && row.pushEpoch === settings.epoch && isVisible(row, settings, settings.scopes);
  }

  #ageOf({ id }: LogRow): RowAge {
    return this.#parts.clock.nowMs() - positionOfLaneId(id).ms > lateAfterMs ? "late" : "new";
  }

  #nextEntry(): WindowEntry | undefined {
    const isHeldBack = this.#pace.isHeldBack(this.#open, this.#freshInFlight, this.#parts.clock.nowMs());
    return isHeldBack ? undefined : this.#window.next();
  }

  #send(
    row: LogRow & { body: string; pushEpoch: number },
    attempt: number,
    entry: WindowEntry | undefined,
    age: RowAge,
  ): void {
    const { clock, tracer } = this.#parts;
    const { secret, previousSecret, previousUntil } = this.#settings;
    const startedAtMs = clock.nowMs();
    const isOverlap = previousUntil !== null && previousUntil.getTime() > startedAtMs;
    const secrets = { current: secret ?? "", previous: isOverlap ? previousSecret : null };
    const body = Buffer.from(visibleBody(row.type, row.body, this.#settings.scopes));
    const headers = webhookHeaders({ id: row.id, type: row.type, body }, attempt, secrets, startedAtMs);
    const span = tracer && beginDelivery(tracer, row, attempt, this.integrationId);
    this.#inFlight++;
    if (entry) this.#freshInFlight++;
    void this.#targetNow()
      .send(span ? withTrace(headers, span) : headers, body)
      .then((answer) => {
        if (span) endDelivery(span, answer);
        this.#parts.slots.release(age);
        this.#ended(row, attempt, entry, startedAtMs, answer);
      });
  }

  #ended(
    row: LogRow & { pushEpoch: number },
    attempt: number,
    entry: WindowEntry | undefined,
    startedAtMs: number,
    answer: Answer,
  ): void {
    const { clock, recorder, metrics, waitsMs } = this.#parts;
    const now = clock.now();
    const { integrationId } = this;
    const isOnRecord = entry === undefined || entry.isParked;
    const { id: eventId, type, deviceUid, pushEpoch } = row;
    const key = { integrationId, organizationId: this.#organizationId, eventId, type, deviceUid, pushEpoch };
    const { next, record, change } = resultOf({ ...key, attempt, startedAtMs, isOnRecord }, answer, now, waitsMs);
    this.#inFlight--;
    if (entry) this.#freshInFlight--;
    metrics.attempt(next.kind, answer.durationMs);
    if (next.kind === "delivered") this.#pace.succeeded();
    else this.#pace.failed(now.getTime(), answer.outcome.kind === "failed" && answer.outcome.isTimeout === true);
    if (next.kind === "retry") this.#parts.onRetry();
    if (next.kind === "retry" && !isOnRecord) this.#open++;
    if (next.kind !== "retry" && isOnRecord) this.#open--;
    if (entry) entry.isSettled = true;
    if (this.isClosed) {
      recorder.add(undefined, record);
      if (this.#inFlight === 0) this.#closeTarget();
      return;
    }
    recorder.add(this, record, change);
    if (this.#state === "resting") this.#rest();
    else this.pump();
  }

  /** A pause: what is in progress ends and goes on record, so that nothing of it is sent again afterwards. */
  #rest(): void {
    if (this.#isRunning) this.#state = "resting";
    clearTimeout(this.#timer);
    if (!this.isBusy) this.close();
  }

  #targetNow(): WebhookTarget {
    const url = this.#settings.url ?? "";
    this.#target ??= { url, to: this.#parts.openTarget(url) };
    return this.#target.to;
  }

  #closeTarget(): void {
    const old = this.#target?.to;
    this.#target = undefined;
    // What is in progress may end: a changed URL is no reason to send it twice.
    if (old) setTimeout(() => old.close(), this.#inFlight === 0 ? 0 : this.#parts.timeoutMs + slowMs).unref();
  }

  #dropRetry(row: RetryRow): void {
    this.#retries.take();
    this.#open--;
    const { id, pushEpoch } = row;
    const key = { integrationId: this.integrationId, organizationId: this.#organizationId, id, pushEpoch };
    this.#parts.recorder.add(this, undefined, { ...key, kind: "gone" });
  }

  parkSlow(nowMs: number): readonly RowChange[] {
    if (this.isClosed) return [];
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
    this.#planNext();
  }

  /** Reads more if there is room for it; otherwise sleeps until a retry is due. One that has no slot is called when there is one. */
  #planNext(isRetryHeld = false): void {
    clearTimeout(this.#timer);
    if (this.#reader.isReading || !this.#isRunning) return;
    const nowMs = this.#parts.clock.nowMs();
    const reading = this.#parts.recorder.isBlocked ? undefined : this.#reader.readMore(nowMs);
    if (reading) {
      this.#idleSinceMs = undefined;
      void reading.then(() => this.pump());
      return;
    }
    if (isRetryHeld) return;
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
}
