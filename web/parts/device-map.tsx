import { type GeoJSONSource, type Map as MapView, ScaleControl } from "maplibre-gl";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Device } from "../api/types.ts";
import { common } from "../texts/common.ts";
import { mapTexts as texts } from "../texts/map.ts";
import { piecesOf, type Stop, type TrackPoint } from "./device-track.ts";
import { circlePolygon, openMap } from "./map-base.ts";
import { MapNote } from "./map-note.tsx";

export interface DeviceMapProps {
  last: Device["last_location"];
  points: readonly TrackPoint[];
  stops: readonly Stop[];
  /** Where the device was at the chosen time. */
  place: { lat: number; lng: number; isOld: boolean } | undefined;
  /** The map is fitted to the track again when this changes. */
  fitKey: string;
}

const collection = (features: GeoJSON.Feature[]): GeoJSON.FeatureCollection => ({
  type: "FeatureCollection",
  features,
});
const pointAt = (lng: number, lat: number, properties: GeoJSON.GeoJsonProperties = {}): GeoJSON.Feature => ({
  type: "Feature",
  geometry: { type: "Point", coordinates: [lng, lat] },
  properties,
});

function addLayers(map: MapView): void {
  for (const id of ["accuracy", "track", "stops", "last", "place"]) {
    map.addSource(id, { type: "geojson", data: collection([]) });
  }
  map.addLayer({
    id: "accuracy",
    type: "fill",
    source: "accuracy",
    paint: { "fill-color": "#0b6b5d", "fill-opacity": 0.15 },
  });
  map.addLayer({
    id: "track",
    type: "line",
    source: "track",
    layout: { "line-cap": "round", "line-join": "round" },
    paint: { "line-color": "#1565c0", "line-width": 3 },
  });
  map.addLayer({
    id: "stops",
    type: "circle",
    source: "stops",
    paint: {
      "circle-color": "#ffffff",
      "circle-radius": 10,
      "circle-stroke-color": "#1565c0",
      "circle-stroke-width": 2.5,
    },
  });
  map.addLayer({
    id: "stop-numbers",
    type: "symbol",
    source: "stops",
    layout: { "text-field": ["get", "number"], "text-size": 12, "text-allow-overlap": true },
    paint: { "text-color": "#0d3c73" },
  });
  map.addLayer({
    id: "last",
    type: "circle",
    source: "last",
    paint: {
      "circle-color": "#0b6b5d",
      "circle-radius": 6,
      "circle-stroke-color": "#ffffff",
      "circle-stroke-width": 2,
    },
  });
  map.addLayer({
    id: "place",
    type: "circle",
    source: "place",
    paint: {
      "circle-color": ["case", ["get", "isOld"], "#5f6b76", "#c2410c"],
      "circle-radius": 9,
      "circle-stroke-color": "#ffffff",
      "circle-stroke-width": 3,
    },
  });
}

/** The track of a window with its stops, the last known place with its accuracy, and the place at the chosen time. */
export function DeviceMap({ last, points, stops, place, fitKey }: DeviceMapProps) {
  const container = useRef<HTMLDivElement>(null);
  const map = useRef<MapView | undefined>(undefined);
  const [isReady, setReady] = useState(false);
  const [isPainted, setPainted] = useState(false);
  const [isBroken, setBroken] = useState(false);
  const show = (id: string, features: GeoJSON.Feature[]): void => {
    void (map.current?.getSource(id) as GeoJSONSource | undefined)?.setData(collection(features));
  };

  useEffect(() => {
    if (!container.current) return undefined;
    try {
      const view = openMap(container.current, { lng: last?.lng ?? 12, lat: last?.lat ?? 46, zoom: last ? 13 : 3 });
      view.addControl(new ScaleControl(), "bottom-right");
      map.current = view;
      view.once("load", () => setPainted(true));
      view.once("style.load", () => {
        addLayers(view);
        setReady(true);
      });
      return () => view.remove();
    } catch {
      setBroken(true);
      return undefined;
    }
  }, []);

  useEffect(() => {
    if (!isReady) return;
    show(
      "track",
      piecesOf(points).map((piece) => ({
        type: "Feature",
        geometry: { type: "LineString", coordinates: piece.map(({ lng, lat }) => [lng, lat]) },
        properties: {},
      })),
    );
    show(
      "stops",
      stops.map(({ lng, lat }, index) => pointAt(lng, lat, { number: String(index + 1) })),
    );
  }, [isReady, points, stops]);
  useEffect(() => {
    if (!isReady) return;
    show("last", last ? [pointAt(last.lng, last.lat)] : []);
    const radiusM = last && last.source !== "gps" ? (last.accuracy_m ?? 0) : 0;
    const circle = last && radiusM > 0 ? circlePolygon(last.lng, last.lat, radiusM) : undefined;
    show("accuracy", circle ? [{ type: "Feature", geometry: circle, properties: {} }] : []);
  }, [isReady, last?.lat, last?.lng, last?.accuracy_m]);
  useEffect(() => {
    if (isReady) show("place", place ? [pointAt(place.lng, place.lat, { isOld: place.isOld })] : []);
  }, [isReady, place?.lat, place?.lng, place?.isOld]);
  useEffect(() => {
    const places = points.length > 0 ? points : last ? [last] : [];
    if (!isReady || places.length === 0) return;
    const [west, east] = edges(places.map(({ lng }) => lng));
    const [south, north] = edges(places.map(({ lat }) => lat));
    map.current?.fitBounds([west, south, east, north], { padding: 40, maxZoom: 15, animate: false });
  }, [isReady, fitKey, points.length > 0]);

  if (isBroken) return <p class="state">{texts("noMap")}</p>;
  return (
    <>
      {!isPainted && <p class="map-wait">{common("loading")}</p>}
      <div ref={container} class="map-canvas" />
      <MapNote />
    </>
  );
}

const edges = (values: readonly number[]): [number, number] => [
  values.reduce((a, b) => Math.min(a, b)),
  values.reduce((a, b) => Math.max(a, b)),
];
