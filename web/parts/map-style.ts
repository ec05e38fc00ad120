import type { StyleSpecification } from "maplibre-gl";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import world from "world-atlas/countries-50m.json";

interface Colours {
  water: string;
  land: string;
  border: string;
}

const light: Colours = { water: "#dbe7ee", land: "#f6f4ef", border: "#b9b3a6" };
const dark: Colours = { water: "#0f1920", land: "#1d262d", border: "#46525c" };

const topology = world as unknown as Topology<{ countries: GeometryCollection<{ name: string }> }>;

/** The outline of the world, complete in itself: no tile, font or image comes from another host. */
export function outlineStyle(isDark: boolean): StyleSpecification {
  const { water, land, border } = isDark ? dark : light;
  return {
    version: 8,
    // Closer than this the outline has no more detail, and the tiles of that scale are enlarged.
    sources: {
      world: { type: "geojson", data: feature(topology, topology.objects.countries), maxzoom: 7, buffer: 32 },
    },
    layers: [
      { id: "water", type: "background", paint: { "background-color": water } },
      { id: "land", type: "fill", source: "world", paint: { "fill-color": land } },
      { id: "borders", type: "line", source: "world", paint: { "line-color": border, "line-width": 0.8 } },
    ],
  };
}

/** The outline is drawn in dark colours, and what is written on it must be light. */
export const isDarkOutline = (): boolean =>
  configuredStyle() === "" && matchMedia("(prefers-color-scheme: dark)").matches;

/** What the operator has configured, told by the page; empty: the outline. */
export const configuredStyle = (): string =>
  document.querySelector<HTMLMetaElement>('meta[name="vigil-map-style"]')?.content ?? "";
