import type { GeoJSONSource, Map as MapView } from "maplibre-gl";
import { useEffect, useRef, useState } from "preact/hooks";
import type { FleetDevice, Geofence } from "../api/types.ts";
import { common } from "../texts/common.ts";
import { mapTexts as texts } from "../texts/map.ts";
import { type Circle, drawCircle, edgeOf } from "./circle-drawing.ts";
import { addFenceNames, fencesToDraw, namePaint } from "./fence-names.ts";
import { circlePolygon, openMap } from "./map-base.ts";
import { MapNote } from "./map-note.tsx";
import { isDarkOutline } from "./map-style.ts";

export interface CircleMapProps {
  /** Those that are only shown. */
  fences: readonly Geofence[];
  devices: readonly FleetDevice[];
  /** Undefined while none is drawn. */
  circle: Circle | undefined;
  /** Undefined: one may only look. */
  onDraw: ((circle: Circle) => void) | undefined;
  /** The circle is brought into view whenever this changes. */
  focus: string;
}

type Features = GeoJSON.FeatureCollection;
const collection = (features: Features["features"]): Features => ({ type: "FeatureCollection", features });
const pointAt = (lng: number, lat: number, properties = {}): Features["features"][number] => ({
  type: "Feature",
  geometry: { type: "Point", coordinates: [lng, lat] },
  properties,
});

function addLayers(map: MapView, isDark: boolean): void {
  for (const id of ["fences", "positions", "draft", "handles"]) {
    map.addSource(id, { type: "geojson", data: collection([]) });
  }
  const fill = (source: string, colour: string, opacity: number): void => {
    map.addLayer({ id: source, type: "fill", source, paint: { "fill-color": colour, "fill-opacity": opacity } });
    map.addLayer({
      id: `${source}-line`,
      type: "line",
      source,
      paint: { "line-color": colour, "line-width": source === "draft" ? 2.5 : 1.5 },
    });
  };
  fill("fences", "#1565c0", 0.1);
  fill("draft", "#c2410c", 0.18);
  map.addLayer({
    id: "positions",
    type: "circle",
    source: "positions",
    paint: {
      "circle-color": "#0b6b5d",
      "circle-radius": 5,
      "circle-stroke-color": "#ffffff",
      "circle-stroke-width": 1.5,
    },
  });
  addFenceNames(map, "fences", namePaint(isDark));
  map.addLayer({
    id: "handles",
    type: "circle",
    source: "handles",
    paint: {
      "circle-color": "#ffffff",
      "circle-radius": 7,
      "circle-stroke-color": "#c2410c",
      "circle-stroke-width": 3,
    },
  });
}

function setData(map: MapView, source: string, data: Features): void {
  (map.getSource(source) as GeoJSONSource | undefined)?.setData(data);
}

type Box = [west: number, south: number, east: number, north: number];

function boxOf(places: readonly { lng: number; lat: number; radiusM?: number }[]): Box | undefined {
  if (places.length === 0) return undefined;
  const corners = places.flatMap(({ lng, lat, radiusM = 0 }) => {
    return circlePolygon(lng, lat, radiusM, 4).coordinates[0] as [number, number][];
  });
  const all = (index: 0 | 1): number[] => corners.map((corner) => corner[index]);
  const min = (values: number[]): number => values.reduce((a, b) => Math.min(a, b));
  const max = (values: number[]): number => values.reduce((a, b) => Math.max(a, b));
  return [min(all(0)), min(all(1)), max(all(0)), max(all(1))];
}

function show(map: MapView, circle: Circle): void {
  const box = boxOf([circle]);
  if (box) map.fitBounds(box, { padding: 80, maxZoom: 16, animate: false });
}

/** Fences on a map, one of which can be drawn and dragged. The form beside it has the same as numbers. */
export function CircleMap({ fences, devices, circle, onDraw, focus }: CircleMapProps) {
  const container = useRef<HTMLDivElement>(null);
  const map = useRef<MapView | undefined>(undefined);
  const latest = useRef({ circle, onDraw });
  latest.current = { circle, onDraw };
  const hasFitted = useRef(false);
  const [isReady, setReady] = useState(false);
  const [isPainted, setPainted] = useState(false);
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
    view.once("load", () => setPainted(true));
    view.once("style.load", () => {
      addLayers(view, isDarkOutline());
      setReady(true);
    });
    return () => view.remove();
  }, []);

  const canDraw = onDraw !== undefined;
  useEffect(() => {
    if (!isReady || !map.current || !canDraw) return undefined;
    return drawCircle(map.current, {
      get: () => latest.current.circle,
      set: (drawn) => {
        latest.current.circle = drawn;
        latest.current.onDraw?.(drawn);
      },
    });
  }, [isReady, canDraw]);

  useEffect(() => {
    if (!isReady || !map.current) return;
    setData(map.current, "fences", fencesToDraw(fences));
  }, [isReady, fences]);

  const places = devices.flatMap(({ last_location }) => (last_location ? [last_location] : []));
  useEffect(() => {
    if (!isReady || !map.current) return;
    setData(map.current, "positions", collection(places.map(({ lng, lat }) => pointAt(lng, lat))));
    const around = fences.map(({ center, radius }) => ({ ...center, radiusM: radius }));
    const box = boxOf(around.length > 0 ? around : places);
    if (hasFitted.current || circle || !box) return;
    hasFitted.current = true;
    map.current.fitBounds(box, { padding: 50, maxZoom: 15, animate: false });
  }, [isReady, devices, fences]);

  useEffect(() => {
    if (!isReady || !map.current) return;
    const shape = circle && circlePolygon(circle.lng, circle.lat, circle.radiusM);
    setData(map.current, "draft", collection(shape ? [{ type: "Feature", geometry: shape, properties: {} }] : []));
    const edge = circle && edgeOf(circle);
    const handles = circle && edge && canDraw ? [pointAt(circle.lng, circle.lat), pointAt(edge.lng, edge.lat)] : [];
    setData(map.current, "handles", collection(handles));
    if (circle && !map.current.getBounds().contains([circle.lng, circle.lat])) show(map.current, circle);
  }, [isReady, circle?.lat, circle?.lng, circle?.radiusM, canDraw]);

  useEffect(() => {
    if (isReady && map.current && circle) show(map.current, circle);
  }, [isReady, focus]);

  if (isBroken) return <p class="state">{texts("noMap")}</p>;
  return (
    <>
      {!isPainted && <p class="map-wait">{common("loading")}</p>}
      <div ref={container} class="map-canvas" />
      <MapNote />
    </>
  );
}
