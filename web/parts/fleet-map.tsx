import type { GeoJSONSource, Map as MapView } from "maplibre-gl";
import { useEffect, useRef, useState } from "preact/hooks";
import { getAll } from "../api/client.ts";
import type { Device, Geofence } from "../api/types.ts";
import type { DeviceState } from "../state/device-state.ts";
import { mapTexts as texts } from "../texts/map.ts";
import { nameOf } from "./alarm-card.tsx";
import { circlePolygon, openMap } from "./map-base.ts";
import { configuredStyle } from "./map-style.ts";

export interface FleetMapProps {
  fleet: readonly { device: Device; state: DeviceState }[];
  followed: string | null;
  onChoose(uid: string): void;
}

const colours: Readonly<Record<DeviceState, string>> = {
  alarm: "#c62828",
  online: "#0b6b5d",
  stale: "#8a6d00",
  offline: "#5f6b76",
};

function pointsOf(fleet: FleetMapProps["fleet"]): GeoJSON.FeatureCollection {
  return {
    type: "FeatureCollection",
    features: fleet.flatMap(({ device, state }) => {
      const at = device.last_location;
      if (!at) return [];
      const properties = {
        uid: device.uid,
        name: nameOf(device, device.uid),
        state,
        isAlarm: state === "alarm" ? 1 : 0,
      };
      return [{ type: "Feature", geometry: { type: "Point", coordinates: [at.lng, at.lat] }, properties }];
    }),
  };
}

/** Circles only where a position is not from satellites: there the circle says more than the point. */
function accuracyOf(fleet: FleetMapProps["fleet"]): GeoJSON.FeatureCollection {
  return {
    type: "FeatureCollection",
    features: fleet.flatMap(({ device }) => {
      const at = device.last_location;
      if (!at || at.source === "gps" || !at.accuracy_m) return [];
      return [{ type: "Feature", geometry: circlePolygon(at.lng, at.lat, at.accuracy_m, 32), properties: {} }];
    }),
  };
}

const nothing: GeoJSON.FeatureCollection = { type: "FeatureCollection", features: [] };
const stateColour = ["match", ["get", "state"], ...Object.entries(colours).flat(), "#5f6b76"];

function addLayers(map: MapView): void {
  map.addSource("fences", { type: "geojson", data: nothing });
  map.addSource("accuracy", { type: "geojson", data: nothing });
  map.addSource("fleet", {
    type: "geojson",
    data: nothing,
    cluster: true,
    clusterRadius: 44,
    clusterProperties: { alarms: ["+", ["get", "isAlarm"]] },
  });
  map.addLayer({
    id: "fences",
    type: "fill",
    source: "fences",
    paint: { "fill-color": "#1565c0", "fill-opacity": 0.12 },
  });
  map.addLayer({
    id: "fence-lines",
    type: "line",
    source: "fences",
    paint: { "line-color": "#1565c0", "line-width": 1.5 },
  });
  map.addLayer({
    id: "accuracy",
    type: "fill",
    source: "accuracy",
    paint: { "fill-color": "#0b6b5d", "fill-opacity": 0.12 },
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
    layout: { "text-field": ["get", "point_count_abbreviated"], "text-size": 12, "text-allow-overlap": true },
    paint: { "text-color": "#ffffff" },
  });
  map.addLayer({
    id: "devices",
    type: "circle",
    source: "fleet",
    filter: ["!", ["has", "point_count"]],
    paint: {
      "circle-color": stateColour as never,
      "circle-radius": ["case", ["==", ["get", "state"], "alarm"], 10, 7],
      "circle-stroke-color": "#ffffff",
      "circle-stroke-width": 2,
    },
  });
  map.addLayer({
    id: "names",
    type: "symbol",
    source: "fleet",
    minzoom: 9,
    filter: ["!", ["has", "point_count"]],
    layout: { "text-field": ["get", "name"], "text-size": 12, "text-offset": [0, 1.3], "text-anchor": "top" },
    paint: { "text-color": "#18212b", "text-halo-color": "#ffffff", "text-halo-width": 1.5 },
  });
}

async function showFences(map: MapView): Promise<void> {
  const fences = await getAll<Geofence>("/api/v1/geofences/?page_size=200");
  (map.getSource("fences") as GeoJSONSource | undefined)?.setData({
    type: "FeatureCollection",
    features: fences.map(({ center, radius, name }) => ({
      type: "Feature",
      geometry: circlePolygon(center.lng, center.lat, radius),
      properties: { name },
    })),
  });
}

/** The fleet on a map. The browser draws what changed; the list beside it says the same without a map. */
export function FleetMap({ fleet, followed, onChoose }: FleetMapProps) {
  const container = useRef<HTMLDivElement>(null);
  const map = useRef<MapView | undefined>(undefined);
  const hasFitted = useRef(false);
  const [isReady, setReady] = useState(false);
  const [isBroken, setBroken] = useState(false);

  useEffect(() => {
    if (!container.current) return undefined;
    let view: MapView;
    try {
      view = openMap(container.current, { lng: 12, lat: 46, zoom: 3 });
    } catch {
      setBroken(true);
      return undefined;
    }
    map.current = view;
    view.on("load", () => {
      addLayers(view);
      setReady(true);
      void showFences(view).catch(() => undefined);
    });
    view.on("click", "devices", (event) => {
      const uid = event.features?.[0]?.properties.uid as string | undefined;
      if (uid !== undefined) onChoose(uid);
    });
    view.on("click", "clusters", (event) => {
      view.easeTo({ center: event.lngLat, zoom: view.getZoom() + 2 });
    });
    return () => view.remove();
  }, []);

  useEffect(() => {
    if (!isReady || !map.current) return;
    (map.current.getSource("fleet") as GeoJSONSource).setData(pointsOf(fleet));
    (map.current.getSource("accuracy") as GeoJSONSource).setData(accuracyOf(fleet));
    const places = fleet.flatMap(({ device }) => (device.last_location ? [device.last_location] : []));
    if (hasFitted.current || places.length === 0) return;
    hasFitted.current = true;
    const lngs = places.map(({ lng }) => lng);
    const lats = places.map(({ lat }) => lat);
    const min = (values: number[]): number => values.reduce((a, b) => Math.min(a, b));
    const max = (values: number[]): number => values.reduce((a, b) => Math.max(a, b));
    map.current.fitBounds([min(lngs), min(lats), max(lngs), max(lats)], { padding: 60, maxZoom: 13, animate: false });
  }, [isReady, fleet]);

  const place =
    followed === null ? undefined : fleet.find(({ device }) => device.uid === followed)?.device.last_location;
  useEffect(() => {
    if (isReady && place)
      map.current?.easeTo({ center: [place.lng, place.lat], zoom: Math.max(map.current.getZoom(), 13) });
  }, [isReady, followed, place?.lat, place?.lng]);

  if (isBroken) return <p class="state">{texts("noMap")}</p>;
  return (
    <>
      <div ref={container} class="map-canvas" />
      {configuredStyle() === "" && <p class="map-note">{texts("outline")}</p>}
    </>
  );
}
