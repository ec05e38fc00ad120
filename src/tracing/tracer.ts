import { AsyncLocalStorage } from "node:async_hooks";
import { formatTraceparent, newSpanId, newTraceId, type TraceContext } from "./trace-context.ts";

/** Never tokens, texts, health values or anything of a person: a collector belongs to somebody else. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export type SpanKind = "internal" | "server" | "client" | "consumer";

/** A span that is over. */
export interface FinishedSpan {
  context: TraceContext;
  parentId: string | undefined;
  name: string;
  kind: SpanKind;
  startMs: number;
  endMs: number;
  attributes: Attributes;
  links: readonly TraceContext[];
  /** A short reason, such as an error code. */
  error: string | undefined;
}

/** Takes spans that are over; must neither wait nor throw. */
export interface SpanSink {
  add(span: FinishedSpan): void;
}

export interface SpanEnd {
  attributes?: Attributes;
  error?: string | undefined;
}

export interface SpanStart {
  kind?: SpanKind;
  parent?: TraceContext | undefined;
  attributes?: Attributes;
  links?: readonly TraceContext[];
}

const nowMs = (): number => performance.timeOrigin + performance.now();

/** One piece of work of a trace that is recorded. */
export class Span {
  readonly context: TraceContext;
  readonly #sink: SpanSink;
  readonly #name: string;
  readonly #start: SpanStart;
  readonly #startMs = nowMs();
  #isOver = false;

  constructor(sink: SpanSink, name: string, start: SpanStart) {
    this.#sink = sink;
    this.#name = name;
    this.#start = start;
    this.context = { traceId: start.parent?.traceId ?? newTraceId(), spanId: newSpanId(), isSampled: true };
  }

  child(name: string, start: Omit<SpanStart, "parent"> = {}): Span {
    return new Span(this.#sink, name, { ...start, parent: this.context });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get traceparent(): string {
    return formatTraceparent(this.context);
  }

  /** Only the first call counts. */
  end({ attributes, error }: SpanEnd = {}): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { kind = "internal", parent, attributes: given, links = [] } = this.#start;
    this.#sink.add({
      context: this.context,
      parentId: parent?.spanId,
      name: this.#name,
      kind,
      startMs: this.#startMs,
      endMs: nowMs(),
      attributes: { ...given, ...attributes },
      links,
      error,
    });
  }
}

/** Begins spans, and knows which one the running code belongs to. A process that does not trace has none. */
export class Tracer {
  readonly #sink: SpanSink;
  readonly #ratio: number;
  readonly #storage = new AsyncLocalStorage<Span>();

  /** `ratio`: of the traces that begin here, so many are recorded. */
  constructor(sink: SpanSink, ratio: number) {
    this.#sink = sink;
    this.#ratio = ratio;
  }

  /** Undefined: the trace is not recorded. With a parent, that is for whoever began it to say. */
  begin(name: string, start: SpanStart = {}): Span | undefined {
    const isSampled = start.parent ? start.parent.isSampled : Math.random() < this.#ratio;
    return isSampled ? new Span(this.#sink, name, start) : undefined;
  }

  /** Undefined: the running code belongs to no trace that is recorded. A timer that a call has set may outlive the call's span. */
  get current(): Span | undefined {
    const span = this.#storage.getStore();
    return span?.isOver ? undefined : span;
  }

  /** What the work does, and all that follows from it, belongs to the span. */
  run<T>(span: Span, work: () => T): T {
    return this.#storage.run(span, work);
  }
}
