import type { Geofence } from "../api/types.ts";

const metresPerDegree = 111_320;

/** The fences around a place, the smallest first: it says most. */
export function fencesAround(
  fences: readonly Pick<Geofence, "name" | "center" | "radius">[],
  lat: number,
  lng: number,
): string[] {
  return fences
    .filter(({ center, radius }) => {
      const north = (lat - center.lat) * metresPerDegree;
      const east = (lng - center.lng) * metresPerDegree * Math.cos((lat * Math.PI) / 180);
      return Math.hypot(north, east) <= radius;
    })
    .toSorted((a, b) => a.radius - b.radius)
    .map(({ name }) => name);
}
