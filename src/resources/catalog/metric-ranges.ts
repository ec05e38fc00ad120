import type { Catalog } from "./catalog.ts";

/** What each metric can be, by its key: the same for all models that measure it. */
export function metricRanges(catalog: Catalog): Map<string, { min: number; max: number }> {
  const ranges = new Map<string, { min: number; max: number }>();
  for (const { slug } of catalog.models) {
    for (const capability of catalog.capabilitiesOf(slug)) {
      if (capability.kind === "telemetry") ranges.set(capability.metric_key, capability);
    }
  }
  return ranges;
}
