import { rotateClientSecret, rotateWebhookSecret } from "../resources/organizations/secret-rotation.ts";
import { openSecretBox } from "../roles/secret-key.ts";
import type { Command } from "./command.ts";
import { onIntegration } from "./integration-lookup.ts";
import { record } from "./output.ts";

const idArgument = { name: "ID", summary: "id of the integration (UUID)" };
const exampleId = "8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31";
const secretNotice = "The new secret is shown only once.";

const rotateSecret: Command = {
  path: ["integration", "rotate-secret"],
  summary: "Make a new client secret and print it once",
  positionals: [idArgument],
  options: [],
  examples: [`vigil integration rotate-secret ${exampleId}`, `vigil integration rotate-secret ${exampleId} --json`],
  next: ["Give the new secret to the partner: the old one works for 24 hours more, tokens stay valid."],
  run: async (context) => {
    const { outcome } = await onIntegration(context, ({ tx, organizationId, id, actor, now }) =>
      rotateClientSecret(tx, organizationId, id, actor, now),
    );
    const { integration, secret, previousValidUntil } = outcome;
    const document = {
      id: integration.id,
      client_id: integration.clientId,
      client_secret: secret,
      previous_valid_until: previousValidUntil,
    };
    context.print(document, `${secretNotice}\n\n${record(document)}`);
    return 0;
  },
};

const rotateWebhook: Command = {
  path: ["integration", "rotate-webhook-secret"],
  summary: "Make a new webhook secret and print it once",
  positionals: [idArgument],
  options: [],
  examples: [
    `vigil integration rotate-webhook-secret ${exampleId}`,
    `vigil integration rotate-webhook-secret ${exampleId} --json`,
  ],
  next: ["For 24 hours webhooks are signed with both secrets."],
  run: async (context) => {
    const box = openSecretBox(context.config);
    const { outcome } = await onIntegration(context, ({ tx, organizationId, id, actor, now }) =>
      rotateWebhookSecret(tx, organizationId, id, actor, now, box),
    );
    const { integration, secret, previousValidUntil } = outcome;
    const document = { id: integration.id, webhook_secret: secret, previous_valid_until: previousValidUntil };
    context.print(document, `${secretNotice}\n\n${record(document)}`);
    return 0;
  },
};

export const rotationCommands: readonly Command[] = [rotateSecret, rotateWebhook];
