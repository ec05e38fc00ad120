import type { MapMouseEvent, MapTouchEvent, Map as MapView } from "maplibre-gl";
import { distanceM } from "../../src/lib/geo.ts";

export interface Circle {
  lat: number;
  lng: number;
  radiusM: number;
}

export const minRadiusM = 1;
export const maxRadiusM = 50_000;

interface Pixel {
  x: number;
  y: number;
}

/** A press this near to a handle takes hold of it; fingers are wider than that. */
const reachPx = 18;

export const clampRadius = (radiusM: number): number => Math.min(maxRadiusM, Math.max(minRadiusM, Math.round(radiusM)));

const round = (degrees: number): number => Math.round(degrees * 1e6) / 1e6;

/** Within the world, and without digits that mean millimetres. */
export const placeAt = (lng: number, lat: number): { lng: number; lat: number } => ({
  lng: round(((((lng + 180) % 360) + 360) % 360) - 180),
  lat: round(Math.min(90, Math.max(-90, lat))),
});

/** Where the handle for the radius is: on the circle, to the east. */
export function edgeOf({ lat, lng, radiusM }: Circle): { lat: number; lng: number } {
  return { lat, lng: lng + radiusM / (111_320 * Math.cos((lat * Math.PI) / 180)) };
}

export type Grip = "edge" | "inside";

/** What a press takes hold of; undefined: nothing, the map is moved. */
export function gripAt(press: Pixel, center: Pixel, edge: Pixel): Grip | undefined {
  const distance = (a: Pixel, b: Pixel): number => Math.hypot(a.x - b.x, a.y - b.y);
  // A circle that is drawn small is held in its middle: its edge is too near to be told apart.
  const isSmall = distance(center, edge) < reachPx;
  if (!isSmall && distance(press, edge) <= reachPx) return "edge";
  return distance(press, center) <= Math.max(reachPx, distance(center, edge)) ? "inside" : undefined;
}

interface Drawing {
  get(): Circle | undefined;
  set(circle: Circle): void;
}

type Press = MapMouseEvent | MapTouchEvent;

/**
 * Drawing with mouse and finger. Without a circle a press sets the middle and dragging the radius; later the middle and the
 * handle are dragged, and a click elsewhere moves the circle there. Returns the function that ends it.
 */
export function drawCircle(map: MapView, drawing: Drawing): () => void {
  const gripOf = (event: Press, circle: Circle): Grip | undefined => {
    const edge = edgeOf(circle);
    return gripAt(event.point, map.project([circle.lng, circle.lat]), map.project([edge.lng, edge.lat]));
  };
  /** A fifth of what is seen: large enough to be seen and dragged. */
  const radiusInView = (): number => {
    const bounds = map.getBounds();
    const lat = map.getCenter().lat;
    return clampRadius(distanceM({ lat, lng: bounds.getWest() }, { lat, lng: bounds.getEast() }) / 10);
  };

  let endDrag: (() => void) | undefined;
  function press(event: Press): void {
    if ("points" in event && event.points.length !== 1) return;
    const before = drawing.get();
    const grip = before ? gripOf(event, before) : "edge";
    if (!grip) return;
    event.preventDefault();
    const start = placeAt(event.lngLat.lng, event.lngLat.lat);
    const held = before ?? { ...start, radiusM: radiusInView() };
    if (!before) drawing.set(held);
    const move = ({ lngLat }: Press): void => {
      const { lng, lat } = placeAt(lngLat.lng, lngLat.lat);
      if (grip === "edge") drawing.set({ ...held, radiusM: clampRadius(distanceM(held, { lat, lng })) });
      else drawing.set({ ...held, ...placeAt(held.lng + lng - start.lng, held.lat + lat - start.lat) });
    };
    const end = (): void => {
      map.off("mousemove", move);
      map.off("touchmove", move);
      for (const kind of ["mouseup", "touchend", "touchcancel"]) removeEventListener(kind, end);
      endDrag = undefined;
    };
    endDrag?.();
    endDrag = end;
    map.on("mousemove", move);
    map.on("touchmove", move);
    for (const kind of ["mouseup", "touchend", "touchcancel"]) addEventListener(kind, end);
  }
  function click(event: MapMouseEvent): void {
    const circle = drawing.get();
    if (!circle || gripOf(event, circle)) return;
    drawing.set({ ...circle, ...placeAt(event.lngLat.lng, event.lngLat.lat) });
  }
  function hover(event: MapMouseEvent): void {
    const circle = drawing.get();
    const grip = circle && gripOf(event, circle);
    map.getCanvas().style.cursor = grip === "edge" ? "ew-resize" : grip === "inside" ? "move" : "crosshair";
  }
  map.on("mousedown", press);
  map.on("touchstart", press);
  map.on("click", click);
  map.on("mousemove", hover);
  return () => {
    endDrag?.();
    map.off("mousedown", press);
    map.off("touchstart", press);
    map.off("click", click);
    map.off("mousemove", hover);
    map.getCanvas().style.cursor = "";
  };
}
