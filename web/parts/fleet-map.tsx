import type { GeoJSONSource, Map as MapView } from "maplibre-gl";
import { useEffect, useRef, useState } from "preact/hooks";
import { useFences } from "../state/fences.ts";
import { common } from "../texts/common.ts";
import { mapTexts as texts } from "../texts/map.ts";
import { fencesToDraw } from "./fence-names.ts";
import { differenceOf } from "./fleet-difference.ts";
import { addFleetLayers } from "./fleet-layers.ts";
import type { StatedDevice } from "./fleet-states.ts";
import { circlePolygon, openMap } from "./map-base.ts";
import { MapNote } from "./map-note.tsx";
import { isDarkOutline } from "./map-style.ts";

export interface FleetMapProps {
  /** A device that has not changed is the same object as before. */
  fleet: readonly StatedDevice[];
  /** Nothing of the fleet is still on its way. */
  isComplete: boolean;
  followed: string | null;
  onChoose(uid: string): void;
}

/** Circles of metres are a point at a smaller scale, and thousands of them hide the map. */
const minCircleZoom = 9;
const maxCircles = 300;

/** Circles only where a position is not from satellites: there the circle says more than the point. */
function circlesIn(map: MapView, fleet: readonly StatedDevice[]): GeoJSON.FeatureCollection {
  const features: GeoJSON.Feature[] = [];
  if (map.getZoom() >= minCircleZoom) {
    const bounds = map.getBounds();
    for (const { device } of fleet) {
      const at = device.last_location;
      if (!at || at.source === "gps" || !at.accuracy_m || !bounds.contains([at.lng, at.lat])) continue;
      features.push({
        type: "Feature",
        geometry: circlePolygon(at.lng, at.lat, at.accuracy_m, 32),
        properties: {},
      });
      if (features.length === maxCircles) break;
    }
  }
  return { type: "FeatureCollection", features };
}

const edges = (values: readonly number[]): [number, number] => [
  values.reduce((a, b) => Math.min(a, b)),
  values.reduce((a, b) => Math.max(a, b)),
];

/** The fleet on a map. Only what changed is drawn; the list beside it says the same without a map. */
export function FleetMap({ fleet, isComplete, followed, onChoose }: FleetMapProps) {
  const container = useRef<HTMLDivElement>(null);
  const map = useRef<MapView | undefined>(undefined);
  const drawn = useRef(new Map<string, StatedDevice>());
  const shown = useRef(fleet);
  shown.current = fleet;
  const hasFitted = useRef(false);
  const fences = useFences();
  const [isReady, setReady] = useState(false);
  const [isPainted, setPainted] = useState(false);
  const [isBroken, setBroken] = useState(false);
  const source = (id: string) => map.current?.getSource(id) as GeoJSONSource | undefined;
  const showCircles = (): void => {
    if (map.current) void source("accuracy")?.setData(circlesIn(map.current, shown.current));
  };

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
      addFleetLayers(view, isDarkOutline());
      setReady(true);
    });
    view.on("moveend", showCircles);
    view.on("click", "devices", (event) => {
      const uid = event.features?.[0]?.properties.uid as string | undefined;
      if (uid !== undefined) onChoose(uid);
    });
    view.on("click", "clusters", (event) => {
      view.easeTo({ center: event.lngLat, zoom: view.getZoom() + 2 });
    });
    for (const layer of ["devices", "clusters"]) {
      view.on("mouseenter", layer, () => view.getCanvas().classList.add("points"));
      view.on("mouseleave", layer, () => view.getCanvas().classList.remove("points"));
    }
    return () => view.remove();
  }, []);

  useEffect(() => {
    if (!isReady || !map.current) return;
    const difference = differenceOf(drawn.current, fleet);
    if (difference.add.length + difference.remove.length > 0) void source("fleet")?.updateData(difference);
    showCircles();
    const places =
      hasFitted.current || !isComplete
        ? []
        : fleet.flatMap(({ device }) => (device.last_location ? [device.last_location] : []));
    if (places.length === 0) return;
    hasFitted.current = true;
    const [west, east] = edges(places.map(({ lng }) => lng));
    const [south, north] = edges(places.map(({ lat }) => lat));
    map.current.fitBounds([west, south, east, north], { padding: 60, maxZoom: 13, animate: false });
  }, [isReady, fleet, isComplete]);

  useEffect(() => {
    if (isReady) void source("fences")?.setData(fencesToDraw(fences));
  }, [isReady, fences]);

  const place =
    followed === null ? undefined : fleet.find(({ device }) => device.uid === followed)?.device.last_location;
  useEffect(() => {
    if (isReady && place)
      map.current?.easeTo({ center: [place.lng, place.lat], zoom: Math.max(map.current.getZoom(), 13) });
  }, [isReady, followed, place?.lat, place?.lng]);

  if (isBroken) return <p class="state">{texts("noMap")}</p>;
  return (
    <>
      {!isPainted && <p class="map-wait">{common("loading")}</p>}
      <div ref={container} class="map-canvas" />
      <MapNote />
    </>
  );
}
