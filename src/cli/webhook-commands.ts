import type { Db } from "../db/database.ts";
import { isUuid } from "../lib/ids.ts";
import {
  type DeadLetter,
  readDeadLetters,
  redriveDeadLetters,
  redriveInPieces,
} from "../outbound/dead-letter-store.ts";
import { isSubscribedTo, sendTestEvent } from "../outbound/test-event.ts";
import { allWebhookEventTypes, type WebhookEventType } from "../outbox/webhook-event-types.ts";
import { findIntegrationForOperator, type Integration } from "../resources/organizations/integration-store.ts";
import { openSecretBox } from "../roles/secret-key.ts";
import { webhookOptions } from "../roles/webhook-options.ts";
import { type Arguments, type Command, CommandError, type Option, UsageError } from "./command.ts";
import { withCurrentDatabase, withDatabase } from "./command-database.ts";
import { integrationMissing } from "./integration-lookup.ts";
import { knownWords } from "./option-values.ts";
import { type PageTable, printPages, record } from "./output.ts";
import { listenCommand } from "./webhook-listen-command.ts";

const exampleId = "8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31";
const exampleEvent = "019ca877-8198-7a3c-9f61-2b7e5d0c4a11";
const integrationOption: Option = {
  name: "integration",
  value: "ID",
  required: true,
  summary: "id of the integration (UUID)",
};
const eventOption: Option = { name: "id", value: "EVENT_ID", summary: "one event; without it all" };

function uuidOption(args: Arguments, name: string): string {
  const text = (args.value(name) ?? "").trim();
  if (!isUuid(text)) throw new UsageError(`--${name} must be a UUID, not "${text}"`);
  return text.toLowerCase();
}

const eventId = (args: Arguments): string | undefined => (args.has("id") ? uuidOption(args, "id") : undefined);

async function getIntegration(db: Db, id: string): Promise<Integration> {
  const integration = await findIntegrationForOperator(db, id);
  if (!integration) throw integrationMissing(id);
  return integration;
}

function requireWebhook({ id, status, webhookUrl }: Integration): string {
  if (status !== "active") {
    throw new CommandError(`integration ${id} is disabled: run "vigil integration enable ${id}" first`);
  }
  if (webhookUrl === null) {
    throw new CommandError(
      `integration ${id} has no webhook: set one with "vigil integration set ${id} --webhook-url URL"`,
    );
  }
  return webhookUrl;
}

const noDeadLetter = (integrationId: string, id: string): CommandError =>
  new CommandError(
    `there is no dead letter ${id}: "vigil webhooks deadletter list --integration ${integrationId}" lists them`,
  );

const typeColumnWidth = Math.max(...allWebhookEventTypes.map((type) => type.length));
const deadLetterTable: PageTable<DeadLetter> = {
  titles: ["id", "type", "device_uid", "occurred_at", "attempts", "parked_at", "last_error"],
  widths: [36, typeColumnWidth, 15, 24, 8, 24],
  cells: (one) => [
    one.id,
    one.type,
    one.device_uid,
    one.occurred_at.toISOString(),
    String(one.attempts),
    one.parked_at.toISOString(),
    one.last_error,
  ],
  whenEmpty: "No dead letters.",
};

const list: Command = {
  path: ["webhooks", "deadletter", "list"],
  summary: "List events whose delivery was given up",
  positionals: [],
  options: [integrationOption, eventOption],
  examples: [
    `vigil webhooks deadletter list --integration ${exampleId}`,
    `vigil webhooks deadletter list --integration ${exampleId} --json`,
  ],
  next: ["vigil webhooks deadletter redrive --integration ID", "The partner can also fetch them by replay."],
  run: async (context) => {
    const integrationId = uuidOption(context.args, "integration");
    const id = eventId(context.args);
    await withCurrentDatabase(context, async (db) => {
      const { organizationId } = await getIntegration(db, integrationId);
      await printPages(context, readDeadLetters(db, organizationId, integrationId, id), deadLetterTable);
    });
    return 0;
  },
};

const redrive: Command = {
  path: ["webhooks", "deadletter", "redrive"],
  summary: "Deliver dead letters again, with attempts from 1",
  positionals: [],
  options: [integrationOption, eventOption],
  examples: [
    `vigil webhooks deadletter redrive --integration ${exampleId}`,
    `vigil webhooks deadletter redrive --integration ${exampleId} --id ${exampleEvent}`,
  ],
  next: [
    "The running service delivers them at once, or when it starts.",
    "vigil webhooks deadletter list --integration ID shows those that failed again.",
  ],
  run: async (context) => {
    const integrationId = uuidOption(context.args, "integration");
    const id = eventId(context.args);
    const redriven = await withDatabase(context, async (db) => {
      const integration = await getIntegration(db, integrationId);
      requireWebhook(integration);
      const [ids, now] = [id === undefined ? undefined : [id], context.clock.now()];
      return redriveInPieces(
        (work) => db.transaction(work),
        (tx, after) => redriveDeadLetters(tx, integration.organizationId, integrationId, { ids, after, now }),
      );
    });
    if (id !== undefined && redriven === 0) throw noDeadLetter(integrationId, id);
    context.print({ redriven }, redriven === 1 ? "1 event is due again." : `${redriven} events are due again.`);
    return 0;
  },
};

function requireSubscription(type: WebhookEventType, integration: Integration): void {
  if (isSubscribedTo(type, integration)) return;
  throw new CommandError(
    `integration ${integration.id} is not subscribed to ${type}: its webhook_event_types, scopes or messaging opt-in exclude it`,
  );
}

const test: Command = {
  path: ["webhooks", "test"],
  summary: "Send one signed sample event to the webhook",
  positionals: [],
  options: [
    integrationOption,
    {
      name: "type",
      value: "T",
      summary: "event type; must be one that the integration receives",
      default: "webhook.test",
    },
  ],
  examples: [
    `vigil webhooks test --integration ${exampleId}`,
    `vigil webhooks test --integration ${exampleId} --type alarm.sos --json`,
  ],
  next: ["One attempt is made, from this machine. Exit code 1 when it was not delivered."],
  run: async (context) => {
    const { args, config, clock } = context;
    const integrationId = uuidOption(args, "integration");
    const [type = "webhook.test"] = knownWords(
      "type",
      args.has("type") ? [args.value("type") ?? ""] : [],
      allWebhookEventTypes,
    );
    const document = await withDatabase(context, async (db) => {
      const integration = await getIntegration(db, integrationId);
      requireSubscription(type, integration);
      requireWebhook(integration);
      return sendTestEvent(
        { db, clock, secrets: openSecretBox(config), webhooks: webhookOptions(config) },
        integration,
        type,
      );
    });
    if (!document) throw integrationMissing(integrationId);
    context.print(document, record({ ...document }));
    return document.delivered ? 0 : 1;
  },
};

export const webhookCommands: readonly Command[] = [list, redrive, test, listenCommand];
