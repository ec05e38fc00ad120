import type { StatedDevice } from "./fleet-states.ts";

function pointOf({ device, state }: StatedDevice): GeoJSON.Feature | undefined {
  const at = device.last_location;
  if (!at) return undefined;
  const { uid } = device;
  const properties = { uid, name: device.name || uid, state, isAlarm: state === "alarm" ? 1 : 0 };
  return { type: "Feature", geometry: { type: "Point", coordinates: [at.lng, at.lat] }, properties };
}

/** Whether the map draws the two alike: most packets move nothing. */
function isDrawnAlike(a: StatedDevice, b: StatedDevice): boolean {
  const [from, to] = [a.device.last_location, b.device.last_location];
  return a.state === b.state && a.device.name === b.device.name && from?.lat === to?.lat && from?.lng === to?.lng;
}

/** What must be drawn anew for the fleet, given what is drawn; `drawn` is brought up to date. */
export function differenceOf(
  drawn: Map<string, StatedDevice>,
  fleet: readonly StatedDevice[],
): { add: GeoJSON.Feature[]; remove: string[] } {
  const add: GeoJSON.Feature[] = [];
  const remove: string[] = [];
  for (const one of fleet) {
    const { uid } = one.device;
    const before = drawn.get(uid);
    if (before === one) continue;
    drawn.set(uid, one);
    if (before && isDrawnAlike(before, one)) continue;
    const point = pointOf(one);
    if (point) add.push(point);
    else remove.push(uid);
  }
  // All of the fleet is drawn now, and whatever is drawn beyond it has gone.
  if (drawn.size > fleet.length) {
    const isThere = new Set(fleet.map(({ device }) => device.uid));
    for (const uid of drawn.keys()) {
      if (isThere.has(uid)) continue;
      drawn.delete(uid);
      remove.push(uid);
    }
  }
  return { add, remove };
}
