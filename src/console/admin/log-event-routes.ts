import { Type } from "@sinclair/typebox";
import { answer, ok, type Route, route } from "../../http/route.ts";
import { validationError } from "../../lib/errors.ts";
import type { SecretBox } from "../../lib/secret-box.ts";
import { describeEvent, findEvent } from "../../outbound/event-detail.ts";
import { listLogEntries, logEntryList } from "../../outbound/event-list.ts";
import { resendEvent } from "../../outbound/resend.ts";
import { withheldReason } from "../../outbox/visible-gate.ts";
import { recordAudit } from "../../resources/audit/audit-store.ts";
import { loadIntegration, requireWebhook } from "./integration-lookup.ts";
import { forAdmins, found, integrationParams, integrationPath } from "./integration-routes.ts";

const eventPath = `${integrationPath}events/:event_id/`;
const eventParams = { params: { id: "uuid", event_id: "uuid" } } as const;

type Load = Parameters<typeof loadIntegration>[0];

async function loadEvent(context: Load) {
  const integration = await loadIntegration(context);
  const event = found(await findEvent(context.db, integration, (context.params.event_id as string).toLowerCase()));
  return { integration, event };
}

/** The log of an integration as its partner would replay it, with what is withheld and why. */
export const logEventRoutes = ({ secrets }: { secrets: SecretBox }): Route[] => [
  route({
    ...forAdmins,
    ...integrationParams,
    method: "GET",
    path: `${integrationPath}events/`,
    operationId: "console_integrations_events",
    summary: "Rows of the outbound log, newest first",
    description:
      "With a device or a visibility a page may be short although more rows follow: go on as long as there is a next.",
    list: logEntryList,
    responses: { 200: Type.Any() },
    load: loadIntegration,
    handle: async ({ db, object, list, page }) => page(await listLogEntries(db, object, list()), (row) => row),
  }),
  route({
    ...forAdmins,
    ...eventParams,
    method: "GET",
    path: eventPath,
    operationId: "console_integrations_event",
    summary: "One row of the outbound log: its body, its attempts, and the request as it would be signed now",
    responses: { 200: Type.Any() },
    load: loadEvent,
    handle: async ({ db, object: { integration, event }, now }) =>
      ok(await describeEvent(db, integration, event, { now, secrets })),
  }),
  route({
    ...forAdmins,
    ...eventParams,
    method: "POST",
    path: `${eventPath}resend/`,
    operationId: "console_integrations_event_resend",
    summary: "Send one row of the outbound log again, with attempts from 1",
    responses: { 202: Type.Any() },
    load: loadEvent,
    async handle({ object: { integration, event }, actor, now, transaction }) {
      requireWebhook(integration);
      const reason = withheldReason(event, integration, integration.scopes);
      if (reason !== null) {
        throw validationError({ event_id: ["The integration does not receive this event: its settings exclude it."] });
      }
      const isQueued = await transaction(async (tx) => {
        if (!(await resendEvent(tx, integration, event, now))) return false;
        await recordAudit(tx, actor, now, {
          action: "updated",
          model: "integration",
          objectPk: integration.id,
          objectRepr: integration.name,
          changes: { resent: [null, event.id] },
        });
        return true;
      });
      return answer(202, { resent: isQueued ? 1 : 0 });
    },
  }),
];
