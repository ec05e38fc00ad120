import type { Database } from "../db/database.ts";
import { isUuid, uuidV7Floor } from "../lib/ids.ts";
import { type PushSettings, readSettings } from "../outbound/lane-store.ts";
import { readLog } from "../outbound/replay-store.ts";
import { type SigningSecrets, webhookHeaders } from "../outbound/webhook-signature.ts";
import { visibleTypes } from "../outbox/outbound-gate.ts";
import { visibleBody } from "../outbox/private-params.ts";
import type { WebhookEventType } from "../outbox/webhook-event-types.ts";
import { findIntegrationForOperator } from "../resources/organizations/integration-store.ts";
import { newWebhookSecret } from "../resources/organizations/webhook-secret.ts";
import { openSecretBox } from "../roles/secret-key.ts";
import { type Arguments, type Command, type CommandContext, UsageError } from "./command.ts";
import { withCurrentDatabase } from "./command-database.ts";
import { reasonOf } from "./failures.ts";
import { integrationMissing } from "./integration-lookup.ts";

const exampleId = "8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31";
const pageSize = 100;
const pollMs = 500;

function readArguments(args: Arguments) {
  const integrationId = (args.value("integration") ?? "").trim().toLowerCase();
  if (!isUuid(integrationId)) throw new UsageError(`--integration must be a UUID, not "${integrationId}"`);
  const url = args.value("forward") ?? "";
  if (!/^https?:/i.test(url) || !URL.canParse(url)) {
    throw new UsageError(`--forward must be an http or https URL, not "${url}"`);
  }
  const since = args.value("since")?.toLowerCase();
  if (since !== undefined && !isUuid(since)) throw new UsageError(`--since must be the id of an event, not "${since}"`);
  const count = args.value("count") ?? String(Number.MAX_SAFE_INTEGER);
  if (!/^[1-9]\d{0,15}$/.test(count)) throw new UsageError(`--count must be a whole number from 1, not "${count}"`);
  return { integrationId, url, since, maxEvents: Number(count) };
}

/** Of an integration without a webhook there is no secret: one is made up and shown, as nothing else can verify it. */
function signingSecrets(settings: PushSettings, ownSecret: string, now: Date): SigningSecrets {
  const { secret, previousSecret, previousUntil } = settings;
  const isOverlap = previousUntil !== null && previousUntil > now;
  return { current: secret ?? ownSecret, previous: isOverlap ? previousSecret : null };
}

interface OneEvent {
  id: string;
  type: WebhookEventType;
  body: Buffer;
}

/** One attempt; returns what to print about it. */
async function forward(
  { config, clock }: CommandContext,
  url: string,
  event: OneEvent,
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
function rest(ms: number, signal: AbortSignal): Promise<void> {
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

async function listenTo(
  context: CommandContext,
  db: Database,
  request: ReturnType<typeof readArguments>,
  signal: AbortSignal,
): Promise<{ delivered: number; failed: number; last_id: string | null }> {
  const { integrationId, url, maxEvents } = request;
  const integration = await findIntegrationForOperator(db, integrationId);
  if (!integration) throw integrationMissing(integrationId);
  const owner = { organizationId: integration.organizationId, integrationId };
  const box = openSecretBox(context.config);
  const ownSecret = newWebhookSecret();
  const result = { delivered: 0, failed: 0, last_id: null as string | null };
  let afterId = request.since ?? uuidV7Floor(context.clock.nowMs());
  let isAnnounced = false;
  while (!signal.aborted) {
    // Read for each page: settings and secrets count as they are when an event is sent.
    const [settings] = await readSettings(db, [integrationId], box);
    if (!settings) throw integrationMissing(integrationId);
    if (!isAnnounced) {
      const secretText = settings.secret === null ? `secret ${ownSecret}` : "the secret of the integration";
      context.note(`Forwarding to ${url}, signed with ${secretText}. Stop with Ctrl-C.`);
      isAnnounced = true;
    }
    const types = visibleTypes(settings);
    const range = { afterId, types, deviceUids: settings.webhookDeviceFilter, search: undefined, limit: pageSize };
    const { rows, hasMore } = await readLog(db, owner, range);
    for (const { id, type, body } of rows) {
      const now = context.clock.now();
      const event = { id, type, body: Buffer.from(visibleBody(type, body, settings.scopes)) };
      const { isDelivered, text } = await forward(context, url, event, signingSecrets(settings, ownSecret, now));
      context.note(`${now.toISOString()}  ${id}  ${type}  ${text}`);
      result[isDelivered ? "delivered" : "failed"]++;
      result.last_id = afterId = id;
      if (signal.aborted || result.delivered + result.failed >= maxEvents) return result;
    }
    if (!hasMore) await rest(pollMs, signal);
  }
  return result;
}

export const listenCommand: Command = {
  path: ["webhooks", "listen"],
  summary: "Forward an integration's events to a developer's machine",
  positionals: [],
  options: [
    { name: "integration", value: "ID", required: true, summary: "id of the integration (UUID)" },
    {
      name: "forward",
      value: "URL",
      required: true,
      summary: "where to send the events; http and private addresses too",
    },
    {
      name: "since",
      value: "EVENT_ID",
      summary: "begin after this event; without it with those that happen from now on",
    },
    { name: "count", value: "N", summary: "end after so many events" },
  ],
  examples: [
    `vigil webhooks listen --integration ${exampleId} --forward http://127.0.0.1:3000/hook`,
    `vigil webhooks listen --integration ${exampleId} --forward http://127.0.0.1:3000/hook --count 1 --json`,
  ],
  next: [
    "Each event is sent once, signed like a delivery; the webhook of the integration gets its own as usual.",
    "--since with the last id shown begins where it ended.",
  ],
  run: async (context) => {
    const request = readArguments(context.args);
    const controller = new AbortController();
    const end = (): void => controller.abort();
    const signals = ["SIGINT", "SIGTERM"] as const;
    for (const signal of signals) process.once(signal, end);
    try {
      const result = await withCurrentDatabase(context, (db) => listenTo(context, db, request, controller.signal));
      context.print(result, `${result.delivered} delivered, ${result.failed} failed.`);
    } finally {
      for (const signal of signals) process.removeListener(signal, end);
    }
    return 0;
  },
};
