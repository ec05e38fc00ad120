import { uuidV7 } from "../lib/ids.ts";
import type { WebhookEventType } from "../outbox/webhook-event-types.ts";
import { errorText, type Next, nextState } from "./delivery-policy.ts";
import type { AttemptRecord, RowChange } from "./delivery-store.ts";
import type { Answer } from "./webhook-client.ts";

export interface EndedAttempt {
  integrationId: string;
  organizationId: string;
  eventId: string;
  type: WebhookEventType;
  deviceUid: string;
  pushEpoch: number;
  attempt: number;
  startedAtMs: number;
  /** The row is in the table of open deliveries already: it is a retry, or the cursor has passed it. */
  isOnRecord: boolean;
}

/** What an attempt leaves behind. A first attempt that succeeds leaves its record and nothing else. */
export function resultOf(
  ended: EndedAttempt,
  { outcome, durationMs, retryAfter, text }: Answer,
  now: Date,
  waitsMs: readonly number[],
): { next: Next; record: AttemptRecord; change: RowChange | undefined } {
  const { integrationId, organizationId, eventId, pushEpoch, attempt, startedAtMs, isOnRecord } = ended;
  const next = nextState(attempt, outcome, now, waitsMs, retryAfter);
  const error = errorText(outcome);
  const record = {
    integrationId,
    id: uuidV7(now.getTime()),
    organizationId,
    eventId,
    type: ended.type,
    deviceUid: ended.deviceUid,
    attempt,
    startedAtMs,
    durationMs,
    statusCode: outcome.kind === "answered" ? outcome.status : null,
    error,
    answer: text,
  };
  const key = { integrationId, organizationId, id: eventId, pushEpoch };
  if (next.kind === "retry") {
    return { next, record, change: { ...key, kind: "open", attempts: attempt, dueAtMs: next.dueAt.getTime() } };
  }
  if (next.kind === "dead_letter") {
    const parkedAtMs = now.getTime();
    return { next, record, change: { ...key, kind: "dead", attempts: attempt, error: error ?? "", parkedAtMs } };
  }
  return { next, record, change: isOnRecord ? { ...key, kind: "gone" } : undefined };
}
