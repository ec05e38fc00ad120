import { Type } from "@sinclair/typebox";
import { refuseReadOnly } from "../../http/read-only.ts";
import { noContent, ok, type Route, route } from "../../http/route.ts";
import { cursorPageOf, Nullable, refTo } from "../../http/schemas.ts";
import { eventList, listEvents } from "./event-list.ts";
import { Event, EventDetail, toEvent, toEventDetail } from "./event-record.ts";
import { acknowledgeEvent, deleteEvent, getOperableEvent, getVisibleEvent } from "./event-store.ts";

const EventAcknowledgeRequest = Type.Object(
  {
    notes: Type.Optional(
      Nullable(Type.String({ maxLength: 2000, description: "Left out, notes stay as they are; null removes them." })),
    ),
  },
  { $id: "EventAcknowledgeRequest" },
);

const fixedFields = Object.keys(Event.properties);

export const eventRoutes = (): Route[] => [
  route({
    method: "GET",
    path: "/api/v1/events/",
    operationId: "events_list",
    tag: "Events",
    summary: "Events and alarms, newest first",
    description: "Events of deleted devices stay in the list.",
    partners: ["events:read"],
    people: "VIEWER",
    list: eventList,
    responses: { 200: refTo(cursorPageOf(Event)) },
    handle: async ({ db, principal, list, page }) => page(await listEvents(db, principal, list()), toEvent),
  }),
  route({
    method: "GET",
    path: "/api/v1/events/:id/",
    operationId: "events_retrieve",
    tag: "Events",
    summary: "One event with its notes",
    params: { id: "uuid" },
    partners: ["events:read"],
    people: "VIEWER",
    responses: { 200: refTo(EventDetail) },
    handle: async ({ db, principal, params }) =>
      ok(toEventDetail(await getVisibleEvent(db, principal, params.id as string))),
  }),
  route({
    method: "DELETE",
    path: "/api/v1/events/:id/",
    operationId: "events_destroy",
    tag: "Events",
    summary: "Delete an event",
    description: "What was sent about it stays in the replay of outbound events.",
    params: { id: "uuid" },
    partners: ["events:acknowledge"],
    people: "ADMIN",
    responses: { 204: null },
    handle: async ({ organizationId, params, actor, now, transaction }) => {
      await transaction((tx) => deleteEvent(tx, organizationId, params.id as string, actor, now));
      return noContent();
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/events/:id/acknowledge/",
    operationId: "events_acknowledge_create",
    tag: "Events",
    summary: "Acknowledge an event",
    description: "May be repeated: time and author of the first call stay, notes are replaced if sent.",
    params: { id: "uuid" },
    partners: ["events:acknowledge"],
    people: "USER",
    body: refTo(EventAcknowledgeRequest),
    responses: { 200: refTo(EventDetail) },
    load: ({ db, principal, params }) => getOperableEvent(db, principal, params.id as string),
    handle: async ({ object: event, body, organizationId, actor, now, transaction }) => {
      const acknowledged = await transaction((tx) =>
        acknowledgeEvent(
          tx,
          organizationId,
          event.id,
          {
            notes: body.notes,
            approve: (before, after) =>
              refuseReadOnly(body, fixedFields, [toEventDetail(before), toEventDetail(after)]),
          },
          actor,
          now,
        ),
      );
      return ok(toEventDetail(acknowledged));
    },
  }),
];
