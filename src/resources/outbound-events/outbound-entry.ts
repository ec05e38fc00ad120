import type { WebhookEventType } from "../organizations/webhook-event-types.ts";

/** Something partners are told, before it is known which integrations get it. */
export interface OutboundEntry {
  organizationId: string;
  type: WebhookEventType;
  deviceUid: string;
  /** The `ts` of the source; for commands and messages the time of the transition. */
  occurredAtMs: number;
  /** As decided for the type (section 19.3), in the order of the keys. */
  data: Readonly<Record<string, unknown>>;
}
