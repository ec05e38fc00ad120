import { parseTraceparent } from "../tracing/trace-context.ts";
import type { Span, Tracer } from "../tracing/tracer.ts";
import type { LogRow } from "./delivery-store.ts";
import type { Answer } from "./webhook-client.ts";

/** One attempt, in the trace of what made the row. */
export const beginDelivery = (
  tracer: Tracer,
  { id, type, trace }: LogRow,
  attempt: number,
  integrationId: string,
): Span | undefined =>
  tracer.begin(`webhook ${type}`, {
    kind: "client",
    parent: parseTraceparent(trace),
    attributes: {
      "http.request.method": "POST",
      "vigil.event_id": id,
      "vigil.event_type": type,
      "vigil.attempt": attempt,
      "vigil.integration": integrationId,
    },
  });

/** The signature covers id, time and body: a header beside them leaves it as it is. */
export const withTrace = (headers: Record<string, string>, span: Span): Record<string, string> => ({
  ...headers,
  traceparent: span.traceparent,
});

export function endDelivery(span: Span, { outcome }: Answer): void {
  if (outcome.kind === "failed") {
    span.end({ error: outcome.isTimeout ? "timeout" : "connection failed" });
    return;
  }
  const { status } = outcome;
  span.end({
    attributes: { "http.response.status_code": status },
    error: status >= 200 && status < 300 ? undefined : String(status),
  });
}
