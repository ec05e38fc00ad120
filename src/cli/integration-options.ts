import { isImei } from "../lib/ids.ts";
import { allScopes, type Scope } from "../oauth/scopes.ts";
import { allWebhookEventTypes } from "../outbox/webhook-event-types.ts";
import { parseLinkHost, resolveHost } from "../resources/organizations/host-lookup.ts";
import type { IntegrationSettings } from "../resources/organizations/integration-store.ts";
import { checkWebhookTarget } from "../resources/organizations/webhook-target.ts";
import { type Arguments, type CommandContext, CommandError, type Option, UsageError } from "./command.ts";
import { commaList, givenOnly, knownWords, nonEmptyText } from "./option-values.ts";

export const integrationOptions: readonly Option[] = [
  { name: "scopes", value: "all|a,b", summary: "scopes that its tokens may have" },
  { name: "webhook-url", value: "URL", summary: 'where events are pushed, https only; "" switches push off' },
  { name: "webhook-event-types", value: "a,b", summary: "event types to push; empty means all but the additive ones" },
  { name: "webhook-device-filter", value: "uid,uid", summary: "devices (IMEI) to push; empty means all" },
  { name: "link-host", value: "HOST", repeatable: true, summary: "host allowed in link_base, like app.example.org" },
];

async function webhookUrl({ args, config }: CommandContext): Promise<string | null | undefined> {
  const text = args.value("webhook-url")?.trim();
  if (text === undefined) return undefined;
  if (text === "") return null;
  const verdict = await checkWebhookTarget(text, config.webhookAllowCidrs, resolveHost);
  if (!verdict.ok) throw new CommandError(`the webhook URL is refused: ${verdict.reason}`);
  return verdict.url;
}

function scopesOption(args: Arguments): Scope[] | undefined {
  const text = args.value("scopes");
  if (text === undefined) return undefined;
  const words = commaList(text.replaceAll(" ", ","));
  if (words.includes("all") && words.length === 1) return allScopes;
  const named = knownWords("scopes", words, allScopes);
  return allScopes.filter((scope) => named.includes(scope));
}

function deviceFilter(args: Arguments): string[] | undefined {
  const text = args.value("webhook-device-filter");
  if (text === undefined) return undefined;
  const uids = commaList(text);
  const wrong = uids.find((uid) => !isImei(uid));
  if (wrong !== undefined) throw new UsageError(`--webhook-device-filter takes IMEIs of 15 digits, not "${wrong}"`);
  return uids;
}

function linkHost(text: string): string {
  const host = parseLinkHost(text);
  if (host === undefined)
    throw new UsageError(`--link-host takes a host like app.example.org or app.example.org:8443, not "${text}"`);
  return host;
}

const linkHosts = (args: Arguments): string[] | undefined =>
  args.has("link-host")
    ? [...new Set(args.values("link-host").flatMap((text) => (text === "" ? [] : linkHost(text))))]
    : undefined;

function messaging(args: Arguments, canSwitchOn: boolean): boolean | undefined {
  const on = canSwitchOn && args.has("messaging");
  const off = args.has("no-messaging");
  if (on && off) throw new UsageError("--messaging and --no-messaging exclude each other");
  return on || off ? on : undefined;
}

/** What the options ask for; the usage errors come first, because looking up a name takes time. */
export async function givenIntegrationSettings(
  context: CommandContext,
  canSwitchMessagingOn: boolean,
): Promise<Partial<IntegrationSettings>> {
  const { args } = context;
  const eventTypes = args.value("webhook-event-types");
  const checked = {
    name: nonEmptyText(args, "name", 200),
    scopes: scopesOption(args),
    webhookEventTypes:
      eventTypes === undefined
        ? undefined
        : knownWords("webhook-event-types", commaList(eventTypes), allWebhookEventTypes),
    webhookDeviceFilter: deviceFilter(args),
    linkHosts: linkHosts(args),
    messagingEnabled: messaging(args, canSwitchMessagingOn),
  };
  return givenOnly<IntegrationSettings>({ ...checked, webhookUrl: await webhookUrl(context) });
}
