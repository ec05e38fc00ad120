import type { Map as MapView } from "maplibre-gl";
import type { Geofence } from "../api/types.ts";
import { circlePolygon } from "./map-base.ts";

/** A quarter of a turn from the east, where a circle begins. */
const steps = 64;
const topStep = steps / 4;

/**
 * Fences as circles, and the name of each at the top of it: a name that belonged to the circle would be drawn once for every tile
 * that the circle reaches into, and in the middle is the person who is at home.
 */
export const fencesToDraw = (
  fences: readonly Pick<Geofence, "center" | "radius" | "name">[],
): GeoJSON.FeatureCollection => ({
  type: "FeatureCollection",
  features: fences.flatMap(({ center, radius, name }): GeoJSON.Feature[] => {
    const geometry = circlePolygon(center.lng, center.lat, radius, steps);
    const coordinates = geometry.coordinates[0]?.[topStep] ?? [center.lng, center.lat];
    return [
      { type: "Feature", geometry, properties: {} },
      { type: "Feature", geometry: { type: "Point", coordinates }, properties: { name } },
    ];
  }),
});

export const namePaint = (isDark: boolean) =>
  isDark
    ? { "text-color": "#f2f5f7", "text-halo-color": "#10151a", "text-halo-width": 1.5 }
    : { "text-color": "#18212b", "text-halo-color": "#ffffff", "text-halo-width": 1.5 };

/** The names of the fences of a source, where the map is close enough to read them. */
export function addFenceNames(map: MapView, source: string, paint: ReturnType<typeof namePaint>): void {
  map.addLayer({
    id: `${source}-names`,
    type: "symbol",
    source,
    minzoom: 11,
    filter: ["==", ["geometry-type"], "Point"],
    layout: {
      "text-field": ["get", "name"],
      "text-size": 11,
      "text-anchor": "bottom",
      "text-offset": [0, -0.3],
    },
    paint,
  });
}
