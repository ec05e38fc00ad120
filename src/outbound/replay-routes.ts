import { searchStart } from "../http/lists.ts";
import { jsonText, type Route, route } from "../http/route.ts";
import { refTo } from "../http/schemas.ts";
import { partnerTokenRequired } from "../lib/errors.ts";
import { uuidV7Floor } from "../lib/ids.ts";
import type { Scope } from "../oauth/scopes.ts";
import { visibleTypes } from "../outbox/outbound-gate.ts";
import { visibleBody } from "../outbox/private-params.ts";
import { OutboundEventPage } from "./outbound-envelope.ts";
import { expiredBefore, readReplayQuery, replayParams, timeOf, usableAfterMs, windowEdge } from "./replay-query.ts";
import { findOldestId, getSubscription, type ReplayPage, readLog } from "./replay-store.ts";

export const replayRoutes = (retentionDays: number): Route[] => [
  route({
    method: "GET",
    path: "/api/v1/partner/outbound-events/",
    operationId: "partner_outbound_events_list",
    tag: "Outbound events",
    summary: "List outbound events in order, after a cursor",
    description:
      "The same envelopes as webhooks deliver, byte for byte, without a signature. The current event types, device filter and scopes apply. Send the id of the last row you have as `since`.",
    partners: [],
    people: "never",
    query: replayParams,
    responses: { 200: refTo(OutboundEventPage) },
    errors: [410],
    handle: async ({ db, principal, organizationId, query, now }) => {
      if (principal.kind !== "partner") throw partnerTokenRequired();
      const owner = { organizationId, integrationId: principal.id };
      const edgeMs = windowEdge(now.getTime(), retentionDays);
      const { since, limit, types, search } = await readReplayQuery(query(), edgeMs, async () => {
        const oldest = await findOldestId(db, owner, edgeMs + usableAfterMs);
        throw expiredBefore(retentionDays, oldest === undefined ? edgeMs + usableAfterMs : timeOf(oldest));
      });
      const sinceAt = since === undefined ? undefined : new Date(timeOf(since));
      const startMs = search === undefined ? edgeMs : Math.max(edgeMs, searchStart({ after: sinceAt }, now).getTime());
      const { webhookEventTypes, webhookDeviceFilter } = await getSubscription(db, owner);
      const { messagingEnabled } = principal.partner;
      const scopes = [...principal.partner.scopes];
      const shown = visibleTypes({ scopes, webhookEventTypes, messagingEnabled });
      const page = await readLog(db, owner, {
        afterId: since ?? uuidV7Floor(startMs),
        types: types ? shown.filter((type) => types.includes(type)) : shown,
        deviceUids: webhookDeviceFilter,
        search,
        limit,
      });
      return jsonText(pageText(page, scopes));
    },
  }),
];

/** The stored bodies as they are: what was signed must not be rewritten, except for what the token may not see. */
function pageText({ rows, hasMore }: ReplayPage, scopes: readonly Scope[]): string {
  const cursor = hasMore ? `"${rows.at(-1)?.id}"` : "null";
  return `{"data":[${rows.map(({ type, body }) => visibleBody(type, body, scopes)).join(",")}],"next_cursor":${cursor},"has_more":${hasMore}}`;
}
