import { Agent, request } from "undici";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";
import { exportRequest } from "./otlp-json.ts";
import type { Attributes, FinishedSpan, SpanSink } from "./tracer.ts";

export interface ExporterOptions {
  /** Of the collector, with the path. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Who sends. */
  resource: Attributes;
  version: string;
  log: Logger;
  metrics: Metrics;
  maxWaiting?: number;
  everyMs?: number;
  timeoutMs?: number;
  maxPauseMs?: number;
}

const maxBatch = 512;
const maxAnswerBytes = 65_536;

/** Answers after which the same spans may be sent again (OTLP 1.x, "retryable response codes"). */
const retryable = new Set([429, 502, 503, 504]);

type Outcome = "sent" | "dropped" | "refused";

/**
 * Sends spans to a collector, in batches and one request at a time. Whoever ends a span never waits: while the collector is slow
 * or away a bounded number of spans is kept, and what comes beyond it is dropped and counted.
 */
export class OtlpExporter implements SpanSink {
  readonly #options: Required<ExporterOptions>;
  readonly #agent = new Agent({ connections: 1 });
  readonly #count: (outcome: Outcome, spans: number) => void;
  #waiting: FinishedSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isFailing = false;
  #pauseMs: number;
  #isClosed = false;

  constructor(options: ExporterOptions) {
    this.#options = { maxWaiting: 8192, everyMs: 1000, timeoutMs: 10_000, maxPauseMs: 30_000, ...options };
    this.#pauseMs = this.#options.everyMs;
    const spans = options.metrics.counter("vigil_trace_spans_total", "Spans of traces, by what became of them.");
    this.#count = (outcome, count) => spans.add({ outcome }, count);
    // From the start, so that a rate over them is never empty.
    for (const outcome of ["sent", "dropped", "refused"] as const) this.#count(outcome, 0);
  }

  add(span: FinishedSpan): void {
    if (this.#isClosed || this.#waiting.length >= this.#options.maxWaiting) {
      this.#count("dropped", 1);
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length === maxBatch && !this.#isFailing) this.#plan(0);
    else if (!this.#timer && !this.#sending) this.#plan(this.#options.everyMs);
  }

  #plan(inMs: number): void {
    if (this.#isClosed || this.#sending) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#sending = this.#sendAll().finally(() => {
        this.#sending = undefined;
        if (this.#waiting.length > 0) this.#plan(this.#isFailing ? this.#pauseMs : this.#options.everyMs);
      });
    }, inMs).unref();
  }

  /** Until less than a batch is left, or the collector fails. */
  async #sendAll(): Promise<void> {
    do {
      const batch = this.#waiting.slice(0, maxBatch);
      if (!(await this.#send(batch))) return;
      this.#waiting.splice(0, batch.length);
    } while (this.#waiting.length >= maxBatch);
  }

  /** False: the spans may be sent again. */
  async #send(spans: readonly FinishedSpan[]): Promise<boolean> {
    const { url, headers, resource, version, timeoutMs } = this.#options;
    try {
      const { statusCode, body } = await request(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: exportRequest(resource, version, spans),
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(timeoutMs),
      });
      await body.dump({ limit: maxAnswerBytes });
      if (retryable.has(statusCode)) return this.#failed(`the collector answered ${statusCode}`);
      this.#count(statusCode < 300 ? "sent" : "refused", spans.length);
      if (statusCode < 300) this.#succeeded();
      else this.#failed(`the collector refused spans with ${statusCode}`);
      return true;
    } catch (error) {
      return this.#failed((error as { code?: string }).code ?? (error as Error).name);
    }
  }

  #failed(reason: string): false {
    this.#pauseMs = this.#isFailing ? Math.min(this.#pauseMs * 2, this.#options.maxPauseMs) : this.#options.everyMs;
    if (!this.#isFailing) this.#options.log.warn({ reason }, "traces cannot be sent; they are kept for a while");
    this.#isFailing = true;
    return false;
  }

  #succeeded(): void {
    if (this.#isFailing) this.#options.log.info("traces are sent again");
    this.#isFailing = false;
  }

  /** One more attempt for what waits; a service that stops does not wait longer than that for its collector. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const attempt = async (): Promise<void> => {
      await this.#sending;
      if (this.#waiting.length > 0) await this.#sendAll();
    };
    let limit: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      limit = setTimeout(resolve, Math.min(2000, this.#options.timeoutMs));
    });
    await Promise.race([attempt(), timeout]);
    clearTimeout(limit);
    this.#count("dropped", this.#waiting.length);
    this.#waiting = [];
    await this.#agent.destroy();
  }
}
