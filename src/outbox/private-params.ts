import type { Scope } from "../oauth/scopes.ts";
import type { WebhookEventType } from "./webhook-event-types.ts";

/** Commands whose parameters hold phone numbers or texts, with the scope that shows them (decisions 30, as in 3.3). */
const neededScopes: Readonly<Record<string, Scope>> = {
  send_message: "messaging:read",
  set_sos_numbers: "devices:write",
  set_contacts: "devices:write",
  set_whitelist: "devices:write",
};

export const redactedParams = { redacted: true } as const;

/** The scope without which the parameters of such a command are not shown; undefined: everybody may see them. */
export const scopeForParams = (commandType: string): Scope | undefined =>
  Object.hasOwn(neededScopes, commandType) ? neededScopes[commandType] : undefined;

const commandEvents: readonly string[] = ["command.ack", "command.failed"] satisfies WebhookEventType[];

/**
 * The envelope of the log as it may be shown to these scopes. What is stored is whole: scopes may be given and withdrawn later.
 * Push and replay both come here, so that one integration reads the same bytes on both ways.
 */
export function visibleBody(type: WebhookEventType, body: string, scopes: readonly Scope[]): string {
  if (!commandEvents.includes(type)) return body;
  const envelope = JSON.parse(body) as { data: { command_type: string; params: unknown } };
  const needed = scopeForParams(envelope.data.command_type);
  if (needed === undefined || scopes.includes(needed)) return body;
  envelope.data.params = redactedParams;
  return JSON.stringify(envelope);
}
