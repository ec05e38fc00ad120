import type { Config } from "../config.ts";
import type { Lifecycle } from "../lib/lifecycle.ts";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";
import { OtlpExporter } from "../tracing/otlp-exporter.ts";
import { Tracer } from "../tracing/tracer.ts";

export interface TracerParts {
  config: Config;
  lifecycle: Lifecycle;
  log: Logger;
  metrics: Metrics;
  processId: string;
  version: string;
}

/** Undefined: no collector is named, and nothing is traced. Opened first, so that it closes after what it traces. */
export function openTracer({ config, lifecycle, log, metrics, processId, version }: TracerParts): Tracer | undefined {
  if (!config.tracing) return undefined;
  const { url, headers, serviceName, ratio } = config.tracing;
  const resource = {
    "service.name": serviceName,
    "service.version": version,
    "service.instance.id": processId,
    "vigil.roles": config.roles.join(","),
  };
  const exporter = new OtlpExporter({ url, headers, resource, version, log, metrics });
  lifecycle.add("traces", () => exporter.close());
  return new Tracer(exporter, ratio);
}
