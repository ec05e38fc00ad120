import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import { type PushSettings, readSettings } from "../outbound/lane-store.ts";
import { readLog } from "../outbound/replay-store.ts";
import { type SigningSecrets, webhookHeaders } from "../outbound/webhook-signature.ts";
import { visibleTypes } from "../outbox/outbound-gate.ts";
import { visibleBody } from "../outbox/private-params.ts";
import type { WebhookEventType } from "../outbox/webhook-event-types.ts";
import { openSecretBox } from "../roles/secret-key.ts";
import { reasonOf } from "./failures.ts";
import { integrationMissing } from "./integration-lookup.ts";

const pageSize = 100;
const pollMs = 500;

export interface ForwardedEvent {
  id: string;
  type: WebhookEventType;
  body: Buffer;
}

export interface ForwardingOptions {
  config: Config;
  clock: Clock;
  db: Database;
  owner: { organizationId: string; integrationId: string };
  url: string;
  /** Events after this one. */
  afterId: string;
  /** Signs when the integration has no secret of its own. */
  ownSecret: string;
  /** Before the first event. */
  onStart(hasOwnSecret: boolean): void;
  /** True: go on. */
  onSent(event: ForwardedEvent, isDelivered: boolean, text: string): boolean;
  signal: AbortSignal;
}

/** Sends the events of an integration to an address as they come, once each, signed like a delivery. */
export async function forwardEvents(options: ForwardingOptions): Promise<void> {
  const { config, clock, db, owner, url, ownSecret, signal } = options;
  const box = openSecretBox(config);
  let { afterId } = options;
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    // Read for each page: settings and secrets count as they are when an event is sent.
    const [settings] = await readSettings(db, [owner.integrationId], box);
    if (!settings) throw integrationMissing(owner.integrationId);
    if (isFirst) options.onStart(settings.secret !== null);
    const types = visibleTypes(settings);
    const range = { afterId, types, deviceUids: settings.webhookDeviceFilter, search: undefined, limit: pageSize };
    const { rows, hasMore } = await readLog(db, owner, range);
    for (const { id, type, body } of rows) {
      const event = { id, type, body: Buffer.from(visibleBody(type, body, settings.scopes)) };
      const secrets = signingSecrets(settings, ownSecret, clock.now());
      const { isDelivered, text } = await sendEvent({ config, clock }, url, event, secrets);
      afterId = id;
      if (!options.onSent(event, isDelivered, text) || signal.aborted) return;
    }
    if (!hasMore) await rest(pollMs, signal);
  }
}

/** Of an integration without a webhook there is no secret: one is made up and shown, as nothing else can verify it. */
function signingSecrets(settings: PushSettings, ownSecret: string, now: Date): SigningSecrets {
  const { secret, previousSecret, previousUntil } = settings;
  const isOverlap = previousUntil !== null && previousUntil > now;
  return { current: secret ?? ownSecret, previous: isOverlap ? previousSecret : null };
}

/** One attempt; returns what to print about it. */
export async function sendEvent(
  { config, clock }: { config: Config; clock: Clock },
  url: string,
  event: ForwardedEvent,
  secrets: SigningSecrets,
): Promise<{ isDelivered: boolean; text: string }> {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: webhookHeaders(event, 1, secrets, clock.nowMs()),
      body: new Uint8Array(event.body),
      redirect: "manual",
      signal: AbortSignal.timeout(config.webhookTimeoutMs),
    });
    await answer.body?.cancel();
    return { isDelivered: answer.ok, text: String(answer.status) };
  } catch (error) {
    const { cause = error } = error as { cause?: unknown };
    return { isDelivered: false, text: reasonOf(cause) };
  }
}

/** Resolves after the wait, or at once when the signal is aborted. */
export function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
}
