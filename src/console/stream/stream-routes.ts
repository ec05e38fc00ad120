import { Type } from "@sinclair/typebox";
import { type Route, route } from "../../http/route.ts";
import { forPeople, personOf } from "../account-routes.ts";
import type { LiveHub } from "./live-hub.ts";

/** The live stream of section 27.2. */
export const streamRoutes = (hub: LiveHub): Route[] => [
  route({
    ...forPeople,
    method: "GET",
    path: "/console/api/stream/",
    operationId: "console_stream",
    summary: "Stream changes as they happen",
    people: "VIEWER",
    produces: ["text/event-stream"],
    responses: { 200: Type.Any() },
    handle: async ({ principal, header }) => ({
      status: 200,
      body: hub.open(personOf(principal), header("last-event-id")),
      headers: {
        "Content-Type": "text/event-stream; charset=utf-8",
        // Proxies would collect what must go out at once.
        "X-Accel-Buffering": "no",
      },
    }),
  }),
];
