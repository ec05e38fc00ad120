import type { Database } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import { distanceM, type Point } from "../lib/geo.ts";
import { deviceKey, findPlace, gridKey, writePlace } from "./place-cache.ts";
import type { PlaceClient } from "./place-client.ts";
import type { AddressJob } from "./place-job.ts";
import type { LookUp } from "./place-lane.ts";
import type { Found, PlaceService } from "./place-service.ts";
import { type Claimed, finishPlaceJob, setAddress } from "./place-store.ts";

const reuseWithinM = 50;
const maxAddressLength = 500;

/** An address and the point it was asked for. Distances are measured from there: from row to row they would drift away. */
interface Anchor extends Point {
  address: string;
}

export interface AddressOptions {
  db: Database;
  clock: Clock;
  service: PlaceService;
  client: PlaceClient;
  url: URL;
}

/** Fills in the address of a stored location, by a service that speaks the reverse form of Nominatim. */
export function makeAddress(options: AddressOptions): (job: Claimed<AddressJob>) => Promise<LookUp> {
  const { db, clock, service, client, url } = options;

  async function findInCell(cell: string, point: Point): Promise<Found<Anchor>> {
    const cached = await findPlace<Anchor>(db, cell, clock.now());
    if (cached !== undefined) return cached === null ? { kind: "unknown" } : { kind: "found", value: cached };
    const question = () => client.get(reverseUrl(url, point));
    const found = await service.ask(question, (body) => readAddress(body, point));
    if (found.kind !== "failed") await writePlace(db, cell, found.kind === "found" ? found.value : null, clock.now());
    return found;
  }

  async function find({ deviceId, payload }: AddressJob): Promise<Found<Anchor>> {
    const own = deviceKey(deviceId);
    const last = await findPlace<Anchor>(db, own, clock.now());
    if (last && distanceM(last, payload) < reuseWithinM) return { kind: "found", value: last };
    const cell = gridKey(payload.lat, payload.lng);
    const found = await service.once(cell, () => findInCell(cell, payload));
    if (found.kind === "found") await writePlace(db, own, found.value, clock.now());
    return found;
  }

  return async (job) => {
    const found = await find(job);
    if (found.kind === "failed") return found;
    if (found.kind === "unknown") {
      await finishPlaceJob(db, job);
      return { kind: "unresolved" };
    }
    const { deviceId, organizationId, payload } = job;
    const location = { deviceId, ts: new Date(payload.ts), id: payload.location_id };
    await db.transaction(async (tx) => {
      if (await finishPlaceJob(tx, job)) await setAddress(tx, organizationId, location, found.value.address);
    });
    return { kind: "resolved" };
  };
}

/** The rest of the operator's query stays as it was written: it may hold a key or a language. */
function reverseUrl(base: URL, { lat, lng }: Point): URL {
  const url = new URL(base);
  const kept = url.search.slice(1).split("&");
  const ours = [`lat=${lat.toFixed(7)}`, `lon=${lng.toFixed(7)}`, "format=jsonv2"];
  url.search = [...kept.filter((part) => part !== "" && !/^(lat|lon|format)(=|$)/.test(part)), ...ours].join("&");
  return url;
}

/** Where there is nothing, Nominatim answers with status 200 and an error text. */
function readAddress(body: unknown, { lat, lng }: Point): Found<Anchor> {
  const { display_name: text, error } = (body ?? {}) as { display_name?: unknown; error?: unknown };
  if (text === undefined && typeof error === "string") return { kind: "unknown" };
  const address = typeof text === "string" ? storable(text) : "";
  return address === "" ? { kind: "failed", error: "malformed" } : { kind: "found", value: { lat, lng, address } };
}

/** PostgreSQL takes neither NUL nor half a surrogate pair. */
const storable = (text: string): string =>
  Array.from(
    Buffer.from(text)
      .toString()
      .replace(/[\u0000-\u001f\u007f]+/g, " ")
      .trim(),
  )
    .slice(0, maxAddressLength)
    .join("");
