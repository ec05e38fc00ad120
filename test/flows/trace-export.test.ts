import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { type ExporterOptions, OtlpExporter } from "../../src/tracing/otlp-exporter.ts";
import { Tracer } from "../../src/tracing/tracer.ts";
import { type Collector, openCollector } from "../support/collector.ts";

let collector: Collector;
let opened: OtlpExporter | undefined;

beforeEach(async () => {
  collector = await openCollector();
});
afterEach(async () => {
  await opened?.close();
  opened = undefined;
  await collector.close();
});

function open(options: Partial<ExporterOptions> = {}) {
  const metrics = new Metrics();
  const exporter = new OtlpExporter({
    url: `${collector.url}/v1/traces`,
    headers: { "x-key": "k" },
    resource: { "service.name": "vigil" },
    version: "1.2.3",
    log: makeLogger("silent"),
    metrics,
    everyMs: 10,
    ...options,
  });
  opened = exporter;
  const counted = (outcome: string): number | undefined =>
    metrics.read("vigil_trace_spans_total").get(`{outcome="${outcome}"}`);
  return { exporter, tracer: new Tracer(exporter, 1), counted };
}

const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 15_000, interval: 5 });

test("sends spans in the JSON form of OTLP, with the headers that are set", async () => {
  const { tracer, counted } = open();
  const span = tracer.begin("work", { kind: "server", attributes: { count: 3, share: 0.5, isNew: true } });
  span?.child("part").end({ error: "timeout" });
  span?.end();
  await until(() => expect(collector.state.spans).toHaveLength(2));
  const { state } = collector;
  expect(state.path).toBe("POST /v1/traces");
  expect(state.headers).toMatchObject({ "content-type": "application/json", "x-key": "k" });
  expect(state.resource).toEqual({ "service.name": "vigil" });
  const [part, work] = state.spans;
  expect(work).toMatchObject({
    name: "work",
    kind: 2,
    status: {},
    attributes: { count: "3", share: 0.5, isNew: true },
  });
  expect(work?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(work?.startTimeUnixNano).toMatch(/^\d{19}$/);
  expect(part).toMatchObject({ parentSpanId: work?.spanId, traceId: work?.traceId });
  expect(part?.status).toEqual({ code: 2, message: "timeout" });
  await until(() => expect(counted("sent")).toBe(2));
});

test("keeps a bounded number while the collector is away, drops and counts the rest, and goes on when it is back", async () => {
  const { tracer, counted } = open({ maxWaiting: 50, maxPauseMs: 20 });
  collector.state.status = 503;
  for (let n = 0; n < 80; n++) tracer.begin(`work ${n}`)?.end();
  expect(counted("dropped")).toBe(30);
  await until(() => expect(collector.state.requests).toBeGreaterThan(2));
  expect(counted("sent")).toBe(0);
  collector.state.status = 200;
  await until(() => expect(collector.state.spans).toHaveLength(50));
  expect(collector.state.spans.map(({ name }) => name)).toEqual(Array.from({ length: 50 }, (_, n) => `work ${n}`));
});

test("does not send again what the collector refuses", async () => {
  const { tracer, counted } = open();
  collector.state.status = 400;
  tracer.begin("work")?.end();
  await until(() => expect(counted("refused")).toBe(1));
  collector.state.status = 200;
  tracer.begin("other")?.end();
  await until(() => expect(collector.state.spans.map(({ name }) => name)).toEqual(["other"]));
});

test("sends many spans in several requests", async () => {
  const { tracer } = open();
  for (let n = 0; n < 1200; n++) tracer.begin("work")?.end();
  await until(() => expect(collector.state.spans).toHaveLength(1200));
  expect(collector.state.requests).toBeGreaterThanOrEqual(3);
});

test("sends what waits when it closes, and does not wait for a collector that hangs", async () => {
  const first = open({ everyMs: 60_000 });
  first.tracer.begin("last words")?.end();
  await first.exporter.close();
  expect(collector.state.spans.map(({ name }) => name)).toEqual(["last words"]);
  const second = open({ url: "http://127.0.0.1:9/v1/traces", everyMs: 60_000, timeoutMs: 100 });
  second.tracer.begin("nobody hears")?.end();
  await second.exporter.close();
  expect(second.counted("dropped")).toBe(1);
});
