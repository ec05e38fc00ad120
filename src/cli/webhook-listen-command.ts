import type { Database } from "../db/database.ts";
import { isUuid, uuidV7Floor } from "../lib/ids.ts";
import { findIntegrationForOperator } from "../resources/organizations/integration-store.ts";
import { newWebhookSecret } from "../resources/organizations/webhook-secret.ts";
import { type Arguments, type Command, type CommandContext, UsageError } from "./command.ts";
import { withCurrentDatabase } from "./command-database.ts";
import { forwardEvents } from "./event-forwarding.ts";
import { integrationMissing } from "./integration-lookup.ts";
import { readWebhookSecret } from "./webhook-secret-input.ts";

const exampleId = "8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31";

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

async function listenTo(
  context: CommandContext,
  db: Database,
  request: ReturnType<typeof readArguments> & { secret: string | undefined },
  signal: AbortSignal,
): Promise<{ delivered: number; failed: number; last_id: string | null }> {
  const { integrationId, url, maxEvents } = request;
  const { config, clock } = context;
  const integration = await findIntegrationForOperator(db, integrationId);
  if (!integration) throw integrationMissing(integrationId);
  const ownSecret = request.secret ?? newWebhookSecret();
  const result = { delivered: 0, failed: 0, last_id: null as string | null };
  await forwardEvents({
    config,
    clock,
    db,
    owner: { organizationId: integration.organizationId, integrationId },
    url,
    afterId: request.since ?? uuidV7Floor(clock.nowMs()),
    ownSecret,
    onStart: (hasSecret) => {
      const given = request.secret === undefined ? `secret ${ownSecret}` : "the secret that you gave";
      const secretText = hasSecret ? "the secret of the integration" : given;
      context.note(`Forwarding to ${url}, signed with ${secretText}. Stop with Ctrl-C.`);
    },
    onSent: ({ id, type }, isDelivered, text) => {
      context.note(`${clock.now().toISOString()}  ${id}  ${type}  ${text}`);
      result[isDelivered ? "delivered" : "failed"]++;
      result.last_id = id;
      return result.delivered + result.failed < maxEvents;
    },
    signal,
  });
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
    {
      name: "secret",
      value: "SECRET",
      summary: "signs for an integration that has no secret; other users of the machine can see it",
    },
    {
      name: "secret-file",
      value: "FILE",
      summary: "the secret from a file, or - for stdin; else from VIGIL_WEBHOOK_SECRET, else one is made and shown",
    },
    { name: "count", value: "N", summary: "end after so many events" },
  ],
  examples: [
    `vigil webhooks listen --integration ${exampleId} --forward http://127.0.0.1:3000/hook`,
    `vigil webhooks listen --integration ${exampleId} --forward http://127.0.0.1:3000/hook --count 1 --json`,
    `vigil webhooks listen --integration ${exampleId} --forward http://127.0.0.1:3000/hook --secret-file hook.secret`,
  ],
  next: [
    "Each event is sent once, signed like a delivery; the webhook of the integration gets its own as usual.",
    "--since with the last id shown begins where it ended.",
  ],
  run: async (context) => {
    const request = { ...readArguments(context.args), secret: await readWebhookSecret(context) };
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
