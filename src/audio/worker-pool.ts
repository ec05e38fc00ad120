import { Worker } from "node:worker_threads";
import { serviceUnavailable } from "../lib/errors.ts";
import type { AudioJob, AudioResult } from "./audio-jobs.ts";

export interface WorkerPoolOptions {
  threads?: number;
  /** Jobs that may wait; one more is refused. */
  maxWaiting?: number;
  /** A thread that takes longer is ended, and its job with it. */
  timeoutMs?: number;
}

/** A job that was ended because it took too long or brought its thread down. */
export class JobLost extends Error {}

interface Task {
  job: AudioJob;
  resolve(result: AudioResult): void;
  reject(error: Error): void;
}

/**
 * Threads for work that would hold up the event loop, on files that may be made to do harm. A thread is started with its first
 * job; one that hangs, dies or needs too much memory costs its own job and nothing else.
 */
export class WorkerPool {
  readonly #waiting: Task[] = [];
  readonly #threads = new Set<Thread>();
  readonly #maxThreads: number;
  readonly #maxWaiting: number;
  readonly #timeoutMs: number;
  #isClosed = false;

  constructor({ threads = 1, maxWaiting = 16, timeoutMs = 20_000 }: WorkerPoolOptions = {}) {
    this.#maxThreads = threads;
    this.#maxWaiting = maxWaiting;
    this.#timeoutMs = timeoutMs;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  run(job: AudioJob): Promise<AudioResult> {
    if (this.#isClosed || this.#waiting.length >= this.#maxWaiting) return Promise.reject(serviceUnavailable());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#waiting.length > 0) {
      let thread = [...this.#threads].find(({ isBusy }) => !isBusy);
      if (!thread && this.#threads.size < this.#maxThreads) {
        thread = new Thread(this.#timeoutMs);
        this.#threads.add(thread);
      }
      if (!thread) return;
      const taken = thread;
      taken.perform(this.#waiting.shift() as Task, () => {
        if (taken.isOver) this.#threads.delete(taken);
        this.#dispatch();
      });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(serviceUnavailable());
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }
}

class Thread {
  isBusy = false;
  isOver = false;
  readonly #worker: Worker;
  readonly #timeoutMs: number;
  #finish: ((outcome: { result: AudioResult } | { error: Error }) => void) | undefined;
  #jobs = 0;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    this.#worker = startWorker();
    // What decoders print about damaged files is for nobody.
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.#worker.on("message", ({ id, result, error }: { id: number; result?: AudioResult; error?: string }) => {
      if (id === this.#jobs) this.#finish?.(result ? { result } : { error: new Error(error) });
    });
    this.#worker.on("error", (error) => this.#lose(error.message));
    this.#worker.on("exit", () => this.#lose("it took too long"));
    // An idle thread does not keep the program alive.
    this.#worker.unref();
  }

  #lose(reason: string): void {
    this.isOver = true;
    this.#finish?.({ error: new JobLost(`an audio worker has ended: ${reason}`) });
  }

  perform({ job, resolve, reject }: Task, onSettled: () => void): void {
    this.isBusy = true;
    const timer = setTimeout(() => void this.end(), this.#timeoutMs);
    this.#finish = (outcome) => {
      this.#finish = undefined;
      clearTimeout(timer);
      this.isBusy = false;
      if ("result" in outcome) resolve(outcome.result);
      else reject(outcome.error);
      onSettled();
    };
    this.#worker.postMessage({ id: ++this.#jobs, job });
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.#worker.terminate();
  }
}

const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

/** In a build the thread is a file of JavaScript beside this one; in development it is TypeScript and brings its loader along. */
function startWorker(): Worker {
  const options = { resourceLimits, stdout: true, stderr: true };
  if (!import.meta.url.endsWith(".ts")) {
    return new Worker(new URL("./audio-worker.js", import.meta.url), options);
  }
  const loader = JSON.stringify(import.meta.resolve("tsx/esm/api"));
  const file = JSON.stringify(new URL("./audio-worker.ts", import.meta.url).href);
  const start = `import(${loader}).then((tsx) => { tsx.register(); return import(${file}); })`;
  return new Worker(start, { ...options, eval: true });
}
