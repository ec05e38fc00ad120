import type { FastifyInstance, FastifyRequest } from "fastify";
import { parseTraceparent } from "../tracing/trace-context.ts";
import type { Span, Tracer } from "../tracing/tracer.ts";

/** Makes every call a span, under the one that the caller names. To be registered before all other hooks. */
export function traceCalls(app: FastifyInstance, tracer: Tracer): void {
  const spans = new WeakMap<FastifyRequest, Span>();

  app.addHook("onRequest", (request, _reply, done) => {
    const { traceparent } = request.headers;
    const parent = parseTraceparent(Array.isArray(traceparent) ? undefined : traceparent);
    const { method } = request;
    const route = request.routeOptions.url ?? "none";
    const attributes = { "http.request.method": method, "http.route": route, "vigil.request_id": request.id };
    const span = tracer.begin(`${method} ${route}`, { kind: "server", parent, attributes });
    if (!span) return done();
    spans.set(request, span);
    tracer.run(span, done);
  });
  // The body came in events of the socket, which belong to no call.
  app.addHook("preHandler", (request, _reply, done) => {
    const span = spans.get(request);
    if (span) tracer.run(span, done);
    else done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { statusCode } = reply;
    spans.get(request)?.end({
      attributes: { "http.response.status_code": statusCode },
      error: statusCode >= 500 ? String(statusCode) : undefined,
    });
    done();
  });
}
