import { allWebhookEventTypes, type WebhookEventType, webhookEventTypes } from "../outbox/webhook-event-types.ts";
import { outboundEnvelopes } from "./outbound-envelope.ts";
import { exampleEvent } from "./sample-event.ts";

type Json = Record<string, unknown>;

const header = (name: string, description: string, required = true): Json => ({
  name,
  in: "header",
  required,
  description,
  schema: { type: "string" },
});

const headers: Json[] = [
  header("Idempotency-Key", "The id of the envelope; identifies duplicates."),
  header("X-Signature", "`sha256=` and the hex HMAC-SHA256 of the raw body, keyed with the whole webhook secret."),
  header("X-Signature-Previous", "The same, keyed with the previous secret, for 24 hours after a rotation.", false),
  header("X-Event-Type", "The type of the envelope."),
  header("X-Delivery-Attempt", "Number of this attempt, from 1."),
  header("webhook-id", "The id of the envelope (Standard Webhooks)."),
  header("webhook-timestamp", "Unix seconds of the attempt."),
  header(
    "webhook-signature",
    "Signatures `v1,…` of id, timestamp and body, separated by spaces; the new secret first.",
  ),
];

/** What the service sends to `webhook_url`, for `x-webhooks` of the description. The schemas are those of replay. */
export const describeWebhooks = (): Json =>
  Object.fromEntries(allWebhookEventTypes.map((type) => [type, { post: requestOf(type) }]));

function requestOf(type: WebhookEventType): Json {
  const { scopes, additive } = webhookEventTypes[type];
  const needs = scopes.length > 0 ? `Needs ${scopes.join(" and ")}.` : "Needs no scope.";
  const named = additive ? " Sent only when named in webhook_event_types." : "";
  return {
    operationId: `webhook_${type.replaceAll(".", "_")}`,
    summary: type,
    description: `${needs}${named} Delivered at least once and perhaps out of order.`,
    security: [],
    parameters: headers,
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: { $ref: `#/components/schemas/${outboundEnvelopes[type].$id}` },
          example: exampleEvent(type),
        },
      },
    },
    responses: {
      "2XX": { description: "Delivered, if the answer arrives within the time limit." },
      "410": { description: "Refused: moved to the dead-letter queue at once." },
      default: { description: "Failed; the delivery will be retried." },
    },
  };
}
