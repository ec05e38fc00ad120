import { Map as MapView, NavigationControl, setWorkerUrl } from "maplibre-gl";
import workerUrl from "maplibre-gl/dist/maplibre-gl-worker.mjs?url";
import "maplibre-gl/dist/maplibre-gl.css";
import { common } from "../texts/common.ts";
import { mapTexts } from "../texts/map.ts";
import { configuredStyle, outlineStyle } from "./map-style.ts";

setWorkerUrl(workerUrl);

export interface MapPlace {
  lng: number;
  lat: number;
  zoom: number;
}

/** A map in the given element: the operator's source, or the outline of the world. Throws where the browser has no WebGL. */
export function openMap(container: HTMLElement, place: MapPlace): MapView {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const own = configuredStyle();
  const map = new MapView({
    container,
    style: own === "" ? outlineStyle(isDark) : own,
    center: [place.lng, place.lat],
    zoom: place.zoom,
    attributionControl: own === "" ? false : { compact: true },
    locale: {
      "Map.Title": common("map"),
      "NavigationControl.ZoomIn": mapTexts("zoomIn"),
      "NavigationControl.ZoomOut": mapTexts("zoomOut"),
    },
    maxPitch: 0,
    // Names that fade in are drawn sixty times a second, again and again where devices move all the time.
    fadeDuration: 0,
    dragRotate: false,
  });
  if (own !== "") {
    let hasStyle = false;
    map.once("style.load", () => {
      hasStyle = true;
    });
    // Devices are shown although the host of the streets cannot be reached.
    map.on("error", () => {
      if (!hasStyle) map.setStyle(outlineStyle(isDark));
      hasStyle = true;
    });
  }
  map.addControl(new NavigationControl({ showCompass: false }), "top-right");
  // The page has a region of this name already; the drawing itself takes keys.
  map.getCanvas().setAttribute("role", "application");
  return map;
}

/** A circle of metres as a polygon: styles know pixels only. */
export function circlePolygon(lng: number, lat: number, radiusM: number, steps = 64): GeoJSON.Polygon {
  const ring = Array.from({ length: steps + 1 }, (_, index) => {
    const angle = (index / steps) * 2 * Math.PI;
    const dLat = (radiusM / 111_320) * Math.sin(angle);
    const dLng = (radiusM / (111_320 * Math.cos((lat * Math.PI) / 180))) * Math.cos(angle);
    return [lng + dLng, lat + dLat] as [number, number];
  });
  return { type: "Polygon", coordinates: [ring] };
}
