import { type Static, Type } from "@sinclair/typebox";
import type { Tx } from "../../db/database.ts";
import { answer, ok, type Route, route } from "../../http/route.ts";
import { Uuid } from "../../http/schemas.ts";
import { validationError } from "../../lib/errors.ts";
import type { Actor } from "../../oauth/actor.ts";
import { attemptList, listAttempts, toAttempt } from "../../outbound/attempt-list.ts";
import { deadLetterList, listDeadLetters } from "../../outbound/dead-letter-list.ts";
import { redriveDeadLetters, redriveInPieces } from "../../outbound/dead-letter-store.ts";
import { isSubscribedTo, sendTestEvent, type TestEventParts } from "../../outbound/test-event.ts";
import { allWebhookEventTypes } from "../../outbox/webhook-event-types.ts";
import { recordAudit } from "../../resources/audit/audit-store.ts";
import type { Integration } from "../../resources/organizations/integration-store.ts";
import { loadIntegration, requireWebhook } from "./integration-lookup.ts";
import { forAdmins, found, integrationParams, integrationPath } from "./integration-routes.ts";

const maxIds = 1000;

export const RedriveRequest = Type.Object({
  ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: maxIds })),
  all: Type.Optional(Type.Boolean()),
});

const TestRequest = Type.Object({ type: Type.Optional(Type.String({ maxLength: 100 })) });

interface RedriveParts {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  integration: Integration;
  actor: Actor;
  now: Date;
  /** Written with every piece of a large backlog, as the audit log is. */
  onPiece?(tx: Tx, count: number): Promise<void>;
}

/** Makes the chosen dead letters due again, and says so in the audit log. Returns how many. */
export async function redrive(
  { transaction, integration, actor, now, onPiece }: RedriveParts,
  { ids, all }: Static<typeof RedriveRequest>,
): Promise<number> {
  if ((ids === undefined) === (all !== true)) throw validationError({ ids: ["Give ids, or all as true."] });
  requireWebhook(integration);
  return redriveInPieces(transaction, async (tx, after) => {
    const piece = await redriveDeadLetters(tx, integration.organizationId, integration.id, { ids, after, now });
    if (piece.count > 0) {
      await recordAudit(tx, actor, now, {
        action: "updated",
        model: "integration",
        objectPk: integration.id,
        objectRepr: integration.name,
        changes: { redriven: [null, piece.count] },
      });
      await onPiece?.(tx, piece.count);
    }
    return piece;
  });
}

/** What became of the events of an integration, and what can be done about those that did not arrive. */
export const deliveryRoutes = (parts: TestEventParts): Route[] => [
  route({
    ...forAdmins,
    ...integrationParams,
    method: "GET",
    path: `${integrationPath}attempts/`,
    operationId: "console_integrations_attempts",
    summary: "Attempts to deliver events, newest first",
    list: attemptList,
    responses: { 200: Type.Any() },
    load: loadIntegration,
    handle: async ({ db, organizationId, object, list, page }) =>
      page(await listAttempts(db, organizationId, object.id, list()), toAttempt),
  }),
  route({
    ...forAdmins,
    ...integrationParams,
    method: "GET",
    path: `${integrationPath}dead-letters/`,
    operationId: "console_integrations_dead_letters",
    summary: "Events whose delivery was given up, newest first",
    list: deadLetterList,
    responses: { 200: Type.Any() },
    load: loadIntegration,
    handle: async ({ db, organizationId, object, list, page }) =>
      page(await listDeadLetters(db, organizationId, object.id, list()), (row) => row),
  }),
  route({
    ...forAdmins,
    ...integrationParams,
    method: "POST",
    path: `${integrationPath}redrive/`,
    operationId: "console_integrations_redrive",
    summary: "Deliver dead letters again, with attempts from 1",
    body: RedriveRequest,
    responses: { 202: Type.Any() },
    load: loadIntegration,
    async handle({ object, body, actor, now, transaction }) {
      return answer(202, { redriven: await redrive({ transaction, integration: object, actor, now }, body) });
    },
  }),
  route({
    ...forAdmins,
    ...integrationParams,
    method: "POST",
    path: `${integrationPath}test/`,
    operationId: "console_integrations_test",
    summary: "Send one signed sample event to the webhook",
    body: TestRequest,
    responses: { 200: Type.Any() },
    load: loadIntegration,
    async handle({ object, body }) {
      const wanted = body.type ?? "webhook.test";
      const type = allWebhookEventTypes.find((one) => one === wanted);
      if (type === undefined) throw validationError({ type: [`"${wanted}" is not a valid choice.`] });
      if (!isSubscribedTo(type, object)) {
        throw validationError({
          type: ["The integration does not receive this type: its event types, scopes or messaging opt-in exclude it."],
        });
      }
      requireWebhook(object);
      return ok(found(await sendTestEvent(parts, object, type)));
    },
  }),
];
