import { randomUUID } from "node:crypto";
import type pg from "pg";
import { allScopes } from "../../src/oauth/scopes.ts";

/** IMEIs of devices that are registered in bulk, in an organization of their own. */
export async function registerFleet(
  client: pg.Client,
  count: number,
  start = 860_000_000_000_000,
  { protocol = "iw", modelSlug = "iw-h10" } = {},
): Promise<string[]> {
  const organizationId = randomUUID();
  const slug = `fleet-${organizationId.slice(0, 8)}`;
  await client.query(
    `insert into organizations (id, slug, name, timezone, default_locale, features, per_minute, per_hour, created_at, updated_at)
     values ($1, $2, 'Fleet', 'UTC', 'en', '{}', 1000, 1000, now(), now())`,
    [organizationId, slug],
  );
  const uids = Array.from({ length: count }, (_, index) => String(start + index));
  await client.query(
    `insert into devices (id, organization_id, uid, name, device_model_slug, protocol_slug, timezone, tags, metadata, search,
       created_at, updated_at)
     select gen_random_uuid(), $1, uid, 'Watch', $3, $4, 'UTC', '{}', '{}', uid, now(), now()
     from unnest($2::text[]) as uid`,
    [organizationId, uids, modelSlug, protocol],
  );
  return uids;
}

/** Partners of every organization, with all scopes and no webhook. */
export async function addIntegrations(client: pg.Client, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    await client.query(
      `with i as (
         insert into integrations (id, organization_id, name, client_id, status, scopes, webhook_event_types,
           webhook_device_filter, link_hosts, messaging_enabled, created_at, updated_at)
         select gen_random_uuid(), id, 'Partner', gen_random_uuid()::text, 'active', $1, '{}', '{}', '{}', true, now(), now()
         from organizations returning id, organization_id)
       insert into outbound_lanes (integration_id, organization_id) select id, organization_id from i`,
      [allScopes],
    );
  }
}

/** An IW position with the time as the device's clock, which has seconds. */
export function iwPosition(timeMs: number, lat = 41.902782, lng = 12.496367): string {
  const [date, time] = new Date(timeMs).toISOString().slice(2, 19).replaceAll("-", "").replaceAll(":", "").split("T");
  return `IWAP01${date}A${degrees(lat, 2)}N${degrees(lng, 3)}E003.2${time}118.0007500908100001,222,1,300,4500#`;
}

/** An SOS with its position. */
export const iwSos = (timeMs: number): string =>
  iwPosition(timeMs).replace("IWAP01", "IWAP10").replace("#", ",01,en,00,#");

/** Degrees and minutes, north and east. */
function degrees(value: number, digits: number): string {
  const minutes = (value - Math.floor(value)) * 60;
  return `${String(Math.floor(value)).padStart(digits, "0")}${minutes.toFixed(4).padStart(7, "0")}`;
}

/** A heart rate, which has no clock. */
export const iwHeartRate = (hr: number): string => `IWAP49,${hr}#`;

/** An IW heartbeat, which has no clock. */
export const iwHeartbeat = (steps: number): string => `IWAP03,07500908100001,${String(steps).padStart(5, "0")},00#`;

export const iwLogin = (imei: string): string => `IWAP00${imei}#`;
