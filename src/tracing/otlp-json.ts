import type { Attributes, FinishedSpan, SpanKind } from "./tracer.ts";

/** The JSON form of OTLP 1.x (opentelemetry-proto, trace/v1): ids in hex, 64-bit numbers as text. */

const kinds: Record<SpanKind, number> = { internal: 1, server: 2, client: 3, consumer: 5 };
const statusError = 2;

/** The body of one POST to `/v1/traces`. */
export const exportRequest = (resource: Attributes, version: string, spans: readonly FinishedSpan[]): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: "vigil", version }, spans: spans.map(spanOf) }],
      },
    ],
  });

const spanOf = ({ context, parentId, name, kind, startMs, endMs, attributes, links, error }: FinishedSpan) => ({
  traceId: context.traceId,
  spanId: context.spanId,
  ...(parentId === undefined ? {} : { parentSpanId: parentId }),
  name,
  kind: kinds[kind],
  startTimeUnixNano: nanosOf(startMs),
  endTimeUnixNano: nanosOf(endMs),
  attributes: attributesOf(attributes),
  ...(links.length === 0 ? {} : { links: links.map(({ traceId, spanId }) => ({ traceId, spanId })) }),
  status: error === undefined ? {} : { code: statusError, message: error },
});

/** Nanoseconds do not fit into a number; the clock has no more than microseconds. */
const nanosOf = (ms: number): string => `${Math.round(ms * 1000)}000`;

const attributesOf = (attributes: Attributes) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: wireValue(value) }));

function wireValue(value: string | number | boolean) {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
