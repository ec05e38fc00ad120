import { Type } from "@sinclair/typebox";
import { collection } from "../../http/collection.ts";
import { refuseReadOnly } from "../../http/read-only.ts";
import { ok, type Route } from "../../http/route.ts";
import { Nullable, refTo } from "../../http/schemas.ts";
import { eventList, listEvents } from "./event-list.ts";
import { Event, EventDetail, type EventDetailRow, toEvent, toEventDetail } from "./event-record.ts";
import { acknowledgeEvent, deleteEvent, getOperableEvent, getVisibleEvent, visibleRow } from "./event-store.ts";

const EventAcknowledgeRequest = Type.Object(
  {
    notes: Type.Optional(
      Nullable(Type.String({ maxLength: 2000, description: "If omitted, the notes are kept; null removes them." })),
    ),
  },
  { $id: "EventAcknowledgeRequest" },
);

const fixedFields = Object.keys(Event.properties);

const events = collection({
  path: "/api/v1/events/",
  operations: "events",
  tag: "Events",
  reads: { partners: ["events:read"], people: "VIEWER" },
  writes: { partners: ["events:acknowledge"], people: "ADMIN" },
  params: { id: "uuid" },
  key: "id",
});

export const eventRoutes = (): Route[] => [
  events.list({
    summary: "Events and alarms, newest first",
    description: "Events of deleted devices remain in the list.",
    list: eventList,
    item: Event,
    rows: ({ history, principal, list }) => listEvents(history, principal, list()),
    toItem: (row, { principal }) => toEvent(visibleRow(principal, row)),
  }),
  events.retrieve({
    summary: "One event with its notes",
    item: EventDetail,
    load: ({ db, principal, params }) => getVisibleEvent(db, principal, params.id as string),
    handle: async ({ object, principal }) => toEventDetail(visibleRow(principal, object)),
  }),
  events.destroy({
    summary: "Delete an event",
    description: "Outbound events about it remain in the replay.",
    handle: ({ organizationId, params, actor, now, transaction }) =>
      transaction((tx) => deleteEvent(tx, organizationId, params.id as string, actor, now)),
  }),
  events.post(":id/acknowledge/", {
    summary: "Acknowledge an event",
    description: "May be repeated: the time and author of the first call are kept, notes are replaced if sent.",
    people: "USER",
    body: EventAcknowledgeRequest,
    responses: { 200: refTo(EventDetail) },
    load: ({ db, principal, params }) => getOperableEvent(db, principal, params.id as string),
    handle: async ({ object: event, principal, body, organizationId, actor, now, transaction }) => {
      const show = (row: EventDetailRow): EventDetail => toEventDetail(visibleRow(principal, row));
      const acknowledged = await transaction((tx) =>
        acknowledgeEvent(
          tx,
          organizationId,
          event.id,
          {
            notes: body.notes,
            approve: (before, after) => refuseReadOnly(body, fixedFields, [show(before), show(after)]),
          },
          actor,
          now,
        ),
      );
      return ok(show(acknowledged));
    },
  }),
];
