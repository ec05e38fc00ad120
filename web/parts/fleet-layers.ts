import type { Map as MapView } from "maplibre-gl";
import type { DeviceState } from "../state/device-state.ts";
import { addFenceNames, namePaint } from "./fence-names.ts";

const colours: Readonly<Record<DeviceState, string>> = {
  alarm: "#c62828",
  online: "#0b6b5d",
  stale: "#8a6d00",
  offline: "#5f6b76",
};
/** Colour is never the only sign. */
const signs: Readonly<Record<DeviceState, string>> = { alarm: "!", online: "", stale: "?", offline: "×" };

export const nothing: GeoJSON.FeatureCollection = { type: "FeatureCollection", features: [] };
const byState = (values: Readonly<Record<DeviceState, string>>): never =>
  ["match", ["get", "state"], ...Object.entries(values).flat(), values.offline] as never;

/** The layers of the map of the fleet, from the ground up: fences, circles of accuracy, groups, devices, names. */
export function addFleetLayers(map: MapView, isDark: boolean): void {
  const text = namePaint(isDark);
  const fence = isDark ? "#8ab8ff" : "#1565c0";
  map.addSource("fences", { type: "geojson", data: nothing });
  map.addSource("accuracy", { type: "geojson", data: nothing });
  map.addSource("fleet", {
    type: "geojson",
    data: nothing,
    promoteId: "uid",
    cluster: true,
    clusterRadius: 44,
    clusterProperties: { alarms: ["+", ["get", "isAlarm"]] },
  });
  map.addLayer({ id: "fences", type: "fill", source: "fences", paint: { "fill-color": fence, "fill-opacity": 0.12 } });
  map.addLayer({
    id: "fence-lines",
    type: "line",
    source: "fences",
    paint: { "line-color": fence, "line-width": 1.5 },
  });
  addFenceNames(map, "fences", text);
  map.addLayer({
    id: "accuracy",
    type: "fill",
    source: "accuracy",
    paint: { "fill-color": colours.online, "fill-opacity": 0.15, "fill-outline-color": colours.online },
  });
  map.addLayer({
    id: "clusters",
    type: "circle",
    source: "fleet",
    filter: ["has", "point_count"],
    paint: {
      "circle-color": ["case", [">", ["get", "alarms"], 0], colours.alarm, colours.online],
      "circle-radius": ["step", ["get", "point_count"], 14, 20, 18, 200, 24],
      "circle-stroke-color": "#ffffff",
      "circle-stroke-width": 2,
    },
  });
  map.addLayer({
    id: "counts",
    type: "symbol",
    source: "fleet",
    filter: ["has", "point_count"],
    layout: {
      "text-field": [
        "concat",
        ["to-string", ["get", "point_count_abbreviated"]],
        ["case", [">", ["get", "alarms"], 0], " !", ""],
      ],
      "text-size": 12,
      "text-allow-overlap": true,
    },
    paint: { "text-color": "#ffffff" },
  });
  map.addLayer({
    id: "devices",
    type: "circle",
    source: "fleet",
    filter: ["!", ["has", "point_count"]],
    paint: {
      "circle-color": byState(colours),
      "circle-radius": ["case", ["==", ["get", "state"], "alarm"], 11, 8],
      "circle-stroke-color": "#ffffff",
      "circle-stroke-width": 2,
    },
  });
  map.addLayer({
    id: "signs",
    type: "symbol",
    source: "fleet",
    filter: ["!", ["has", "point_count"]],
    layout: { "text-field": byState(signs), "text-size": 13, "text-allow-overlap": true },
    paint: { "text-color": "#ffffff" },
  });
  map.addLayer({
    id: "names",
    type: "symbol",
    source: "fleet",
    minzoom: 9,
    filter: ["!", ["has", "point_count"]],
    layout: { "text-field": ["get", "name"], "text-size": 12, "text-offset": [0, 1.3], "text-anchor": "top" },
    paint: text,
  });
}
