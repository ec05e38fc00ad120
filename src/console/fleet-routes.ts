import { createGzip } from "node:zlib";
import { Type } from "@sinclair/typebox";
import { acceptsGzip } from "../http/negotiation.ts";
import { textParam, textsParam } from "../http/query-params.ts";
import { ok, type Route, route } from "../http/route.ts";
import { validationError } from "../lib/errors.ts";
import { isUuid } from "../lib/ids.ts";
import type { Catalog } from "../resources/catalog/catalog.ts";
import { forPeople } from "./account-routes.ts";
import { listAcknowledgements, listFleet } from "./fleet-store.ts";
import { listPeople, personList } from "./person-list.ts";

const maxEvents = 200;
const maxDevices = 200;

/** What a console reads of all devices at once, of people, and who has acknowledged what. Everybody sees what they may see of the API. */
export const fleetRoutes = (catalog: Catalog): Route[] => [
  route({
    ...forPeople,
    method: "GET",
    path: "/console/api/fleet/",
    operationId: "console_fleet",
    summary: "All devices in short, in pages by IMEI",
    people: "VIEWER",
    query: { after: textParam("The IMEI to go on after."), uid: textsParam("These devices alone.") },
    responses: { 200: Type.Any() },
    async handle({ db, principal, query, header }) {
      const { after = "", uid } = query();
      if (uid && uid.length > maxDevices) throw validationError({ uid: [`Give at most ${maxDevices} IMEIs.`] });
      const text = JSON.stringify(await listFleet(db, principal, { after, uids: uid }, catalog));
      const headers = { "Content-Type": "application/json; charset=utf-8", Vary: "Accept-Encoding" };
      if (!acceptsGzip(header("accept-encoding"))) return { status: 200, body: text, headers };
      const packed = createGzip({ level: 3 });
      packed.end(text);
      return { status: 200, body: packed, headers: { ...headers, "Content-Encoding": "gzip" } };
    },
  }),
  route({
    ...forPeople,
    method: "GET",
    path: "/console/api/people/",
    operationId: "console_people",
    summary: "Everybody one may see, with their devices",
    people: "VIEWER",
    list: personList,
    responses: { 200: Type.Any() },
    handle: async ({ db, principal, list, page }) => page(await listPeople(db, principal, list()), (row) => row),
  }),
  route({
    ...forPeople,
    method: "GET",
    path: "/console/api/acknowledgements/",
    operationId: "console_acknowledgements",
    summary: "Who has acknowledged these events, and with which note",
    people: "VIEWER",
    query: { events: textsParam("Ids of events.") },
    responses: { 200: Type.Any() },
    async handle({ db, principal, query }) {
      const ids = query().events ?? [];
      if (ids.length > maxEvents || !ids.every(isUuid)) {
        throw validationError({ events: [`Give at most ${maxEvents} ids.`] });
      }
      return ok(await listAcknowledgements(db, principal, ids));
    },
  }),
];
