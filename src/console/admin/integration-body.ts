import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../http/schemas.ts";
import { type FieldErrors, validationError } from "../../lib/errors.ts";
import { isImei } from "../../lib/ids.ts";
import { allScopes } from "../../oauth/scopes.ts";
import { allWebhookEventTypes } from "../../outbox/webhook-event-types.ts";
import { parseLinkHost, resolveHost } from "../../resources/organizations/host-lookup.ts";
import type { IntegrationSettings } from "../../resources/organizations/integration-store.ts";
import { checkWebhookTarget } from "../../resources/organizations/webhook-target.ts";

const texts = Type.Array(Type.String({ maxLength: 200 }), { maxItems: 1000 });

const optionalFields = {
  scopes: Type.Optional(Type.Unsafe<string[] | "all">({ anyOf: [texts, { type: "string", enum: ["all"] }] })),
  webhook_url: Type.Optional(Nullable(Type.String({ maxLength: 2048 }))),
  webhook_event_types: Type.Optional(texts),
  webhook_device_filter: Type.Optional(texts),
  link_hosts: Type.Optional(texts),
  messaging_enabled: Type.Optional(Type.Boolean()),
};
const name = Type.String({ minLength: 1, maxLength: 200 });

export const NewIntegration = Type.Object({ name, ...optionalFields });
export const ChangedIntegration = Type.Object({ name: Type.Optional(name), ...optionalFields });

/** The known words among those given, without doubles and in the order of the known ones. */
function knownWords<T extends string>(
  field: string,
  words: readonly string[] | undefined,
  known: readonly T[],
  errors: FieldErrors,
): T[] | undefined {
  if (words === undefined) return undefined;
  const wrong = words.filter((word) => !known.some((one) => one === word));
  if (wrong.length > 0) errors[field] = wrong.slice(0, 10).map((word) => `"${word}" is not a valid choice.`);
  return known.filter((word) => words.includes(word));
}

/** What a body asks for, checked as the command line checks its options. Looking up the host of a webhook takes time, so it is last. */
export async function readIntegrationSettings(
  body: Static<typeof ChangedIntegration>,
  allowCidrs: readonly string[],
): Promise<Partial<IntegrationSettings>> {
  const errors: FieldErrors = {};
  const given: Partial<IntegrationSettings> = {};
  if (body.name !== undefined) {
    given.name = body.name.trim();
    if (given.name === "") errors.name = ["This field may not be blank."];
  }
  const scopes = body.scopes === "all" ? allScopes : knownWords("scopes", body.scopes, allScopes, errors);
  if (scopes) given.scopes = scopes;
  const types = knownWords("webhook_event_types", body.webhook_event_types, allWebhookEventTypes, errors);
  if (types) given.webhookEventTypes = types;
  if (body.webhook_device_filter) {
    given.webhookDeviceFilter = [...new Set(body.webhook_device_filter)];
    if (!body.webhook_device_filter.every(isImei)) errors.webhook_device_filter = ["Expected IMEIs of 15 digits."];
  }
  if (body.link_hosts) {
    const hosts = body.link_hosts.map(parseLinkHost);
    given.linkHosts = [...new Set(hosts.flatMap((host) => host ?? []))];
    if (hosts.includes(undefined)) errors.link_hosts = ["Expected hosts like app.example.org or app.example.org:8443."];
  }
  if (body.messaging_enabled !== undefined) given.messagingEnabled = body.messaging_enabled;
  const url = body.webhook_url?.trim();
  if (body.webhook_url === null || url === "") given.webhookUrl = null;
  else if (url !== undefined && Object.keys(errors).length === 0) {
    const verdict = await checkWebhookTarget(url, allowCidrs, resolveHost);
    if (verdict.ok) given.webhookUrl = verdict.url;
    else errors.webhook_url = [`The webhook URL is refused: ${verdict.reason}.`];
  }
  if (Object.keys(errors).length > 0) throw validationError(errors);
  return given;
}
