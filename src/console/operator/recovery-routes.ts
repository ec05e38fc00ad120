import { Type } from "@sinclair/typebox";
import type { Db, Tx } from "../../db/database.ts";
import { operatorActor } from "../../http/principal.ts";
import { answer, ok, type Route, route } from "../../http/route.ts";
import { Uuid } from "../../http/schemas.ts";
import { validationError } from "../../lib/errors.ts";
import { isImei } from "../../lib/ids.ts";
import { deadLetterList, listDeadLetters } from "../../outbound/dead-letter-list.ts";
import { findIntegrationForOperator } from "../../resources/organizations/integration-store.ts";
import { RedriveRequest, redrive } from "../admin/delivery-routes.ts";
import { found } from "../admin/integration-routes.ts";
import { recordOperatorAction } from "./operator-log.ts";
import { forOperators, operatorOf, operatorPath } from "./operator-routes-base.ts";
import type { OperatorServices } from "./operator-services.ts";
import { listPoisonedPackets, poisonedList } from "./poisoned-list.ts";
import { listWebhooks, webhookList } from "./webhook-list.ts";

const maxPackets = 200;

const RetryRequest = Type.Object({
  ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: maxPackets })),
  uid: Type.Optional(Type.String({ maxLength: 20 })),
  all: Type.Optional(Type.Boolean()),
});

const onePath = `${operatorPath}integrations/:id/`;

const load = async ({ db, params }: { db: Db; params: Readonly<Record<string, string>> }) =>
  found(await findIntegrationForOperator(db, params.id as string));

/** What did not arrive, at partners or in the database, and another attempt at it. */
export const recoveryRoutes = ({ retryPackets }: OperatorServices): Route[] => [
  route({
    ...forOperators,
    method: "GET",
    path: `${operatorPath}integrations/`,
    operationId: "operator_integrations_list",
    summary: "Webhooks, with how late they are and what was given up",
    list: webhookList,
    responses: { 200: Type.Any() },
    handle: async ({ db, list, now, page }) => page(await listWebhooks(db, list(), now), (row) => row),
  }),
  route({
    ...forOperators,
    method: "GET",
    path: `${onePath}dead-letters/`,
    operationId: "operator_integrations_dead_letters",
    summary: "Events whose delivery was given up, newest first",
    params: { id: "uuid" },
    list: deadLetterList,
    responses: { 200: Type.Any() },
    load,
    handle: async ({ db, object, list, page }) =>
      page(await listDeadLetters(db, object.organizationId, object.id, list()), (row) => row),
  }),
  route({
    ...forOperators,
    method: "POST",
    path: `${onePath}redrive/`,
    operationId: "operator_integrations_redrive",
    summary: "Deliver dead letters again, with attempts from 1",
    params: { id: "uuid" },
    body: RedriveRequest,
    responses: { 202: Type.Any() },
    load,
    async handle({ caller, object, body, origin, now, transaction }) {
      const { principal, operator } = operatorOf(caller);
      const actor = operatorActor(principal, object.organizationId, origin);
      const onPiece = (tx: Tx, count: number): Promise<void> => {
        const { organizationSlug: organization, name, id } = object;
        const entry = { operator, action: "redriven", organization, object: name, detail: { id, count } } as const;
        return recordOperatorAction(tx, entry, origin, now);
      };
      const redriven = await redrive({ transaction, integration: object, actor, now, onPiece }, body);
      return answer(202, { redriven });
    },
  }),
  route({
    ...forOperators,
    method: "GET",
    path: `${operatorPath}poisoned-packets/`,
    operationId: "operator_poisoned_packets_list",
    summary: "Packets that could not be stored, newest first",
    list: poisonedList,
    responses: { 200: Type.Any() },
    handle: async ({ db, list, page }) => page(await listPoisonedPackets(db, list()), (row) => row),
  }),
  route({
    ...forOperators,
    method: "POST",
    path: `${operatorPath}poisoned-packets/retry/`,
    operationId: "operator_poisoned_packets_retry",
    summary: "Store packets that were set aside",
    description: `At most ${maxPackets} in a call: the given ones, the latest of a device, or the latest of all.`,
    body: RetryRequest,
    responses: { 200: Type.Any() },
    async handle({ caller, body, origin, now, transaction }) {
      const { ids, uid, all } = body;
      const given = [ids !== undefined, uid !== undefined, all === true].filter(Boolean).length;
      if (given !== 1) throw validationError({ ids: ["Give ids, the uid of a device, or all as true."] });
      if (uid !== undefined && !isImei(uid)) throw validationError({ uid: ["Give an IMEI of 15 digits."] });
      const outcome = await retryPackets({ ...(ids && { ids }), ...(uid !== undefined && { uid }) }, maxPackets);
      const { operator } = operatorOf(caller);
      const entry = {
        operator,
        action: "packets_retried",
        detail: { ...outcome },
      } as const;
      if (outcome.retried > 0) await transaction((tx) => recordOperatorAction(tx, entry, origin, now));
      return ok(outcome);
    },
  }),
];
