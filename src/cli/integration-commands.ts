import { toIntegrationRecord } from "../resources/organizations/integration-record.ts";
import {
  createIntegration,
  type Integration,
  integrationDefaults,
  listIntegrations,
  setIntegrationStatus,
  setWebhookPaused,
  updateIntegration,
} from "../resources/organizations/integration-store.ts";
import { openSecretBox } from "../roles/secret-key.ts";
import { type Command, UsageError } from "./command.ts";
import { withCurrentDatabase, withDatabase } from "./command-database.ts";
import { onIntegration, type Target } from "./integration-lookup.ts";
import { givenIntegrationSettings, integrationOptions } from "./integration-options.ts";
import { getOrganization, operatorIn } from "./operator.ts";
import { record, table } from "./output.ts";

const idArgument = { name: "ID", summary: "id of the integration (UUID)" };

const create: Command = {
  path: ["integration", "create"],
  summary: "Create an integration and print its credentials once",
  positionals: [],
  options: [
    { name: "org", value: "SLUG", required: true, summary: "organization it belongs to" },
    { name: "name", value: "N", required: true, summary: "name of the integration" },
    ...integrationOptions.map((option) => (option.name === "scopes" ? { ...option, default: "all" } : option)),
    { name: "no-messaging", summary: "do not opt in to device messages" },
  ],
  examples: [
    'vigil integration create --org care-co --name "Care app"',
    'vigil integration create --org care-co --name "Map" --scopes devices:read,locations:read --no-messaging',
    'vigil integration create --org care-co --name "Care app" --webhook-url https://app.example.org/vigil --json',
  ],
  next: [
    "Keep client_secret and webhook_secret: they cannot be shown again.",
    "curl -u CLIENT_ID:CLIENT_SECRET -d grant_type=client_credentials http://127.0.0.1:8080/o/token/",
  ],
  run: async (context) => {
    const given = await givenIntegrationSettings(context, false);
    const settings = { ...integrationDefaults, ...given, name: given.name ?? "" };
    const slug = context.args.value("org") ?? "";
    const box = openSecretBox(context.config);
    const created = await withDatabase(context, (db) =>
      db.transaction(async (tx) => {
        const organization = await getOrganization(tx, slug);
        const actor = operatorIn(organization.id);
        return {
          organization,
          ...(await createIntegration(tx, organization.id, settings, actor, context.clock.now(), box)),
        };
      }),
    );
    const { id, name, org, client_id, ...rest } = toIntegrationRecord(created.integration, created.organization.slug);
    const secrets = { client_secret: created.clientSecret, webhook_secret: created.webhookSecret };
    const document = { id, name, org, client_id, ...secrets, ...rest };
    const credentials = record({ id, client_id, ...secrets });
    const base = context.config.baseUrl ?? `http://127.0.0.1:${context.config.port}`;
    const login = `${client_id}:${created.clientSecret}`;
    const next = `Get a token:\n  curl -u ${login} -d grant_type=client_credentials ${base}/o/token/`;
    context.print(
      document,
      `Created integration ${name}. The secrets are shown only once.\n\n${credentials}\n\n${next}`,
    );
    return 0;
  },
};

const set: Command = {
  path: ["integration", "set"],
  summary: "Change settings of an integration",
  positionals: [idArgument],
  options: [
    { name: "name", value: "N", summary: "new name" },
    ...integrationOptions,
    { name: "messaging", summary: "opt in to device messages" },
    { name: "no-messaging", summary: "opt out of device messages" },
  ],
  examples: [
    "vigil integration set 8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31 --webhook-url https://app.example.org/vigil",
    'vigil integration set 8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31 --webhook-url ""',
    "vigil integration set 8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31 --scopes devices:read,events:read --no-messaging",
  ],
  next: [
    "The first URL creates the webhook secret, which is printed then and never again.",
    "vigil integration list --org SLUG",
  ],
  run: async (context) => {
    const given = await givenIntegrationSettings(context, true);
    if (Object.keys(given).length === 0) throw new UsageError("nothing to change: give at least one option");
    const box = openSecretBox(context.config);
    const { outcome, organizationSlug } = await onIntegration(context, ({ tx, organizationId, id, actor, now }) =>
      updateIntegration(tx, organizationId, id, given, actor, now, box),
    );
    const fields = toIntegrationRecord(outcome.integration, organizationSlug);
    const secret = outcome.webhookSecret;
    const secretNotice = secret === null ? "" : `\nwebhook_secret (shown only once)  ${secret}`;
    context.print({ ...fields, webhook_secret: secret }, record(fields) + secretNotice);
    return 0;
  },
};

const changeCommand = (
  word: string,
  change: (target: Target) => Promise<Integration | undefined>,
  describe: (integration: Integration) => string,
  summary: string,
  next: readonly string[],
): Command => ({
  path: ["integration", word],
  summary,
  positionals: [idArgument],
  options: [],
  examples: [
    `vigil integration ${word} 8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31`,
    `vigil integration ${word} 8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31 --json`,
  ],
  next,
  run: async (context) => {
    const { outcome, organizationSlug } = await onIntegration(context, change);
    const fields = toIntegrationRecord(outcome, organizationSlug);
    context.print(fields, describe(outcome));
    return 0;
  },
});

const statusCommand = (
  word: string,
  status: Integration["status"],
  summary: string,
  next: readonly string[],
): Command =>
  changeCommand(
    word,
    ({ tx, organizationId, id, actor, now }) => setIntegrationStatus(tx, organizationId, id, status, actor, now),
    (integration) => `Integration ${integration.name} is ${integration.status}.`,
    summary,
    next,
  );

const pauseCommand = (word: string, isPaused: boolean, summary: string, next: readonly string[]): Command =>
  changeCommand(
    word,
    ({ tx, organizationId, id, actor, now }) => setWebhookPaused(tx, organizationId, id, isPaused, actor, now),
    ({ name, webhookPaused }) => `The webhook of ${name} is ${webhookPaused ? "paused" : "not paused"}.`,
    summary,
    next,
  );

const list: Command = {
  path: ["integration", "list"],
  summary: "List the integrations of an organization",
  positionals: [],
  options: [{ name: "org", value: "SLUG", required: true, summary: "organization to look at" }],
  examples: ["vigil integration list --org care-co", "vigil integration list --org care-co --json"],
  next: ["vigil integration set ID --webhook-url URL"],
  run: async (context) => {
    const slug = context.args.value("org") ?? "";
    const integrations = await withCurrentDatabase(context, async (db) => {
      const organization = await getOrganization(db, slug);
      return (await listIntegrations(db, organization.id)).map((one) => toIntegrationRecord(one, organization.slug));
    });
    const rows = integrations.map((one) => [one.id, one.name, one.client_id, one.status, one.webhook_url ?? "-"]);
    const empty = `No integrations yet. "vigil integration create --org ${slug} --name NAME" creates one.`;
    const text = table(["id", "name", "client_id", "status", "webhook_url"], rows);
    context.print(integrations, rows.length === 0 ? empty : text);
    return 0;
  },
};

export const integrationCommands: readonly Command[] = [
  create,
  set,
  statusCommand("disable", "disabled", "Disable an integration and revoke its tokens", ["vigil integration enable ID"]),
  statusCommand("enable", "active", "Enable a disabled integration", [
    "Revoked tokens stay revoked: the partner must request new ones.",
  ]),
  pauseCommand("pause", true, "Let the events of a webhook wait", ["vigil integration resume ID"]),
  pauseCommand("resume", false, "Send what a paused webhook has kept, in order", ["vigil integration list --org SLUG"]),
  statusCommand("delete", "deleted", "Delete an integration and end its tokens", ["vigil integration list --org SLUG"]),
  list,
];
