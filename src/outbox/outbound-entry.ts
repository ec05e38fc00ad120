import type { WebhookEventType } from "./webhook-event-types.ts";

interface OutboundHead {
  organizationId: string;
  type: WebhookEventType;
  deviceUid: string;
  /** The `ts` of the source; for commands and messages the time of the transition. */
  occurredAtMs: number;
}

/** An outbound event, before it is known which integrations receive it. */
export interface OutboundEntry extends OutboundHead {
  /** As decided for the type (section 19.3), in the order of the keys. */
  data: Readonly<Record<string, unknown>>;
}

/** An entry whose `data` is JSON text already: the same for all integrations and written once. */
export interface OutboundFact extends OutboundHead {
  json: string;
}

export const factOf = ({ data, ...head }: OutboundEntry): OutboundFact => ({ ...head, json: JSON.stringify(data) });
