import { expect, it } from "vitest";
import { type FinishedSpan, Tracer } from "./tracer.ts";

function openTracer(ratio: number) {
  const spans: FinishedSpan[] = [];
  return { spans, tracer: new Tracer({ add: (span) => spans.push(span) }, ratio) };
}
const parent = { traceId: "a".repeat(32), spanId: "b".repeat(16), isSampled: true };

it("records no trace at a share of 0 and every trace at 1", () => {
  expect(openTracer(0).tracer.begin("work")).toBeUndefined();
  expect(openTracer(1).tracer.begin("work")).toBeDefined();
});

it("leaves the choice to whoever began the trace", () => {
  expect(openTracer(0).tracer.begin("work", { parent })?.context.traceId).toBe(parent.traceId);
  expect(openTracer(1).tracer.begin("work", { parent: { ...parent, isSampled: false } })).toBeUndefined();
});

it("hands a span over once, when it ends, with what it was given at either end", () => {
  const { tracer, spans } = openTracer(1);
  const span = tracer.begin("work", { parent, kind: "server", attributes: { a: 1 } });
  const child = span?.child("part");
  child?.end({ error: "23505" });
  span?.end({ attributes: { b: true } });
  span?.end({ attributes: { b: false } });
  expect(spans).toMatchObject([
    { name: "part", parentId: span?.context.spanId, kind: "internal", error: "23505" },
    { name: "work", parentId: parent.spanId, kind: "server", attributes: { a: 1, b: true } },
  ]);
  expect(spans[1]?.endMs).toBeGreaterThanOrEqual(spans[1]?.startMs as number);
  expect(Math.abs((spans[1]?.endMs as number) - Date.now())).toBeLessThan(60_000);
});

it("knows which span code belongs to, after pauses too", async () => {
  const { tracer } = openTracer(1);
  const [one, two] = [tracer.begin("one"), tracer.begin("two")];
  const seen = await Promise.all(
    [one, two].map((span) =>
      tracer.run(span as NonNullable<typeof span>, async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return tracer.current;
      }),
    ),
  );
  expect(seen).toEqual([one, two]);
  expect(tracer.current).toBeUndefined();
});

it("leaves what goes on after the end of a span out of its trace", async () => {
  const { tracer } = openTracer(1);
  const span = tracer.begin("call");
  const later = tracer.run(span as NonNullable<typeof span>, async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return tracer.current;
  });
  span?.end();
  expect(await later).toBeUndefined();
});
