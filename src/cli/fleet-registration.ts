import type { Database } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import { ApiError } from "../lib/errors.ts";
import { loadCatalog } from "../resources/catalog/catalog.ts";
import { findLiveDeviceAnywhere } from "../resources/devices/device-store.ts";
import { registerDevice } from "../resources/devices/device-writes.ts";
import type { Organization } from "../resources/organizations/organization-store.ts";
import { type FleetMember, rome, romeTimezone } from "../simulator/fleet.ts";
import type { City } from "../simulator/itinerary.ts";
import { CommandError } from "./command.ts";
import { operatorIn } from "./operator.ts";

/** The city of the fleets, with the offset of its clocks at this time. */
export function romeAt(now: Date): City {
  const local = new Date(now.toLocaleString("sv-SE", { timeZone: romeTimezone }).replace(" ", "T").concat("Z"));
  return { ...rome, utcOffsetMinutes: Math.round((local.getTime() - now.getTime()) / 60_000) };
}

const devicesPerTransaction = 100;
const devicesPerNote = 1000;

/** Devices that are there already stay as they are. Answers the fleet with the ids it has to use on the wire. */
export async function registerFleet(
  db: Database,
  organization: Organization,
  fleet: readonly FleetMember[],
  clock: Clock,
  onProgress: (done: number) => void,
): Promise<FleetMember[]> {
  const catalog = loadCatalog();
  const actor = operatorIn(organization.id);
  const registered: FleetMember[] = [];
  try {
    for (let from = 0; from < fleet.length; from += devicesPerTransaction) {
      await db.transaction(async (tx) => {
        for (const member of fleet.slice(from, from + devicesPerTransaction)) {
          const given = { name: member.name, device_model_slug: member.modelSlug };
          const known = await findLiveDeviceAnywhere(tx, member.imei);
          const isReady = known?.organization_id === organization.id && known.device_model_slug === member.modelSlug;
          const device = isReady
            ? known
            : (await registerDevice(tx, member.imei, { organization, given, catalog, actor, now: clock.now() })).device;
          // Another device may have the short id; then this one calls itself by its IMEI.
          const id = member.id === member.imei ? member.imei : (device.terminal_id ?? member.imei);
          registered.push({ ...member, id });
        }
      });
      if (fleet.length > devicesPerNote && registered.length % devicesPerNote === 0) onProgress(registered.length);
    }
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "imei_conflict") throw error;
    throw new CommandError("the devices of this seed belong to another organization: choose another --seed", {
      cause: error,
    });
  }
  return registered;
}
