import type { Db } from "../db/database.ts";
import type { SecretBox } from "../lib/secret-box.ts";
import { visibleBody } from "../outbox/private-params.ts";
import { type WithheldReason, withheldReason } from "../outbox/visible-gate.ts";
import type { WebhookEventType } from "../outbox/webhook-event-types.ts";
import type { Integration } from "../resources/organizations/integration-store.ts";
import { curlOf } from "./curl-command.ts";
import { readSettings } from "./lane-store.ts";
import { type PushState, readPushStates } from "./push-state.ts";
import { secretsAt } from "./test-event.ts";
import { webhookHeaders } from "./webhook-signature.ts";

const maxAttempts = 50;

export interface EventAttempt {
  attempt: number;
  status: "delivered" | "failed";
  status_code: number | null;
  duration_ms: number;
  error: string | null;
  /** The beginning of what the receiver answered. */
  answer: string | null;
  at: Date;
}

/** The request as it would be sent now: the signature is of this moment, the secret is not in it. */
export interface SignedRequest {
  url: string;
  headers: Record<string, string>;
  curl: string;
}

/** One row of the log with all that is known of its delivery. */
export interface EventDetail {
  id: string;
  type: WebhookEventType;
  device_uid: string;
  occurred_at: Date;
  withheld: WithheldReason | null;
  push: PushState;
  /** Byte for byte as it is signed and sent. */
  body: string;
  /** Null: there is no webhook, or the partner does not get the row. */
  request: SignedRequest | null;
  /** Newest first, at most 50. */
  attempts: EventAttempt[];
}

export interface LogEvent {
  id: string;
  type: WebhookEventType;
  deviceUid: string;
  occurredAt: Date;
  pushEpoch: number | null;
  body: string;
}

/** Undefined: the log of the integration has no such row, or no longer. */
export const findEvent = (
  db: Db,
  { id, organizationId }: Integration,
  eventId: string,
): Promise<LogEvent | undefined> =>
  db.maybeOne<LogEvent & Record<string, unknown>>`
    select id, type, device_uid as "deviceUid", occurred_at as "occurredAt", push_epoch as "pushEpoch", body
    from outbound_events
    where integration_id = ${id} and id = ${eventId} and organization_id = ${organizationId}`;

export async function describeEvent(
  db: Db,
  integration: Integration,
  event: LogEvent,
  { now, secrets }: { now: Date; secrets: SecretBox },
): Promise<EventDetail> {
  const body = visibleBody(event.type, event.body, integration.scopes);
  const withheld = withheldReason(event, integration, integration.scopes);
  const attempts = await readAttempts(db, integration, event.id);
  const [push = "none"] = await readPushStates(db, integration, [event]);
  return {
    id: event.id,
    type: event.type,
    device_uid: event.deviceUid,
    occurred_at: event.occurredAt,
    withheld,
    push,
    body,
    request: withheld === null ? await signedRequest(db, integration, event, { body, now, secrets }) : null,
    attempts,
  };
}

async function signedRequest(
  db: Db,
  { id, webhookUrl }: Integration,
  event: LogEvent,
  { body, now, secrets }: { body: string; now: Date; secrets: SecretBox },
): Promise<SignedRequest | null> {
  const [settings] = await readSettings(db, [id], secrets);
  if (!settings?.secret || webhookUrl === null) return null;
  const signed = { id: event.id, type: event.type, body: Buffer.from(body) };
  const headers = webhookHeaders(signed, 1, secretsAt(settings, now), now.getTime());
  return { url: webhookUrl, headers, curl: curlOf(webhookUrl, headers, body) };
}

async function readAttempts(db: Db, integration: Integration, eventId: string): Promise<EventAttempt[]> {
  const rows = await db.many<Omit<EventAttempt, "status">>`
    select attempt, status_code, duration_ms, error, answer, started_at as at from delivery_attempts
    where integration_id = ${integration.id} and event_id = ${eventId} and organization_id = ${integration.organizationId}
    order by id desc limit ${maxAttempts}`;
  return rows.map(({ attempt, ...rest }) => ({
    attempt,
    status: rest.error === null ? "delivered" : "failed",
    ...rest,
  }));
}
