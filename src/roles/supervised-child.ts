import cluster, { type Worker } from "node:cluster";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Logger } from "../lib/logger.ts";
import {
  type ChildAddresses,
  type ChildStart,
  ChildStartError,
  type Order,
  type Question,
  type Report,
} from "./child-messages.ts";

const firstPauseMs = 250;
const maxPauseMs = 30_000;
/** A child that has served for so long begins again with the shortest pause. */
const steadyMs = 60_000;
const answerMs = 5000;
const drainMs = 60_000;

export interface SupervisedChildOptions {
  start: ChildStart;
  log: Logger;
  /** Whole lines of its log. */
  onLog(lines: Buffer): void;
  /** It has ended although nobody asked it to. */
  onLost(): void;
}

type State = "starting" | "ready" | "waiting" | "closing";

/** Tells the cluster how children are started: as a file of the build, or in development as TypeScript with its loader. */
export function prepareChildren(): void {
  const isBuilt = !import.meta.url.endsWith(".ts");
  cluster.setupPrimary({
    exec: fileURLToPath(new URL(isBuilt ? "./service-child.js" : "./service-child.ts", import.meta.url)),
    args: [],
    execArgv: isBuilt ? process.execArgv : ["--import", import.meta.resolve("tsx/esm")],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
}

/** One process of the plan, started again whenever it ends. Its sockets are the cluster's, so that others may share the port. */
export class SupervisedChild {
  readonly name: string;
  readonly #options: SupervisedChildOptions;
  readonly #first: Promise<ChildAddresses>;
  readonly #answers = new Map<number, (text: string | undefined) => void>();
  #settleFirst: { resolve(addresses: ChildAddresses): void; reject(error: Error): void } | undefined;
  #state: State = "starting";
  #worker: Worker | undefined;
  #exited: Promise<number | null> = Promise.resolve(null);
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = firstPauseMs;
  #readyAtMs = 0;
  #questions = 0;
  #failure: string | undefined;

  constructor(options: SupervisedChildOptions) {
    this.#options = options;
    this.name = options.start.name;
    this.#first = new Promise((resolve, reject) => {
      this.#settleFirst = { resolve, reject };
    });
    // Whoever closes before the end of the start does not wait for it.
    this.#first.catch(() => undefined);
    this.#fork();
  }

  /** Rejects when its first start fails: then the service does not start either. Later ones are tried again. */
  get ready(): Promise<ChildAddresses> {
    return this.#first;
  }

  get state(): State {
    return this.#state;
  }

  get pid(): number | undefined {
    return this.#worker?.process.pid;
  }

  #fork(): void {
    this.#state = "starting";
    const worker = cluster.fork();
    this.#worker = worker;
    forwardLines(worker.process.stderr, this.#options.onLog);
    worker.on("message", (report: Report) => this.#hear(report));
    worker.on("error", (error) => this.#options.log.warn({ err: error, process: this.name }, "a process failed"));
    this.#exited = new Promise((done) => worker.once("exit", (code) => done(code)));
    void this.#exited.then((code) => this.#onExit(code));
  }

  #tell(order: Order): void {
    // A child that has just ended is seen by its exit.
    if (this.#worker?.isConnected()) this.#worker.send(order, () => undefined);
  }

  #hear(report: Report): void {
    if (report.kind === "answer") {
      this.#answers.get(report.id)?.(report.text);
      return;
    }
    if (report.kind === "hello") {
      this.#tell({ kind: "start", start: this.#options.start });
      return;
    }
    if (report.kind === "failed") {
      this.#failure = report.reason;
      return;
    }
    if (this.#state === "starting") this.#state = "ready";
    this.#readyAtMs = performance.now();
    this.#settleFirst?.resolve(report);
    this.#settleFirst = undefined;
  }

  #onExit(code: number | null): void {
    for (const settle of this.#answers.values()) settle(undefined);
    if (this.#state === "closing") return;
    const wasReady = this.#state === "ready";
    if (this.#settleFirst) {
      this.#settleFirst.reject(
        new ChildStartError(this.#failure ?? `the process ${this.name} ended before it was ready: see the log`),
      );
      this.#settleFirst = undefined;
      this.#state = "closing";
      return;
    }
    if (wasReady && performance.now() - this.#readyAtMs > steadyMs) this.#pauseMs = firstPauseMs;
    const pauseMs = this.#pauseMs;
    const details = { process: this.name, code, pauseMs, ...(wasReady ? {} : { reason: this.#failure }) };
    this.#options.log.error(details, "a process ended; it is started again");
    this.#state = "waiting";
    this.#pauseMs = Math.min(maxPauseMs, 2 * pauseMs);
    this.#timer = setTimeout(() => this.#fork(), pauseMs);
    this.#options.onLost();
  }

  /** Undefined: it does not answer, or is not there. */
  async ask(question: Question): Promise<string | undefined> {
    if (this.#state !== "ready") return undefined;
    const id = ++this.#questions;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve) => {
        this.#answers.set(id, resolve);
        timer = setTimeout(() => resolve(undefined), answerMs);
        this.#tell({ kind: "ask", id, question });
      });
    } finally {
      clearTimeout(timer);
      this.#answers.delete(id);
    }
  }

  signal(name: NodeJS.Signals): void {
    this.#worker?.process.kill(name);
  }

  /** Drains it. False: it had to be killed, or said that something went wrong. */
  async close(): Promise<boolean> {
    const wasRunning = this.#state === "starting" || this.#state === "ready";
    this.#state = "closing";
    clearTimeout(this.#timer);
    if (!wasRunning) return true;
    this.#tell({ kind: "stop" });
    const timer = setTimeout(() => this.#worker?.process.kill("SIGKILL"), drainMs);
    const code = await this.#exited;
    clearTimeout(timer);
    return code === 0;
  }
}

/** Lines of several processes must not be mixed, so only whole ones are passed on. */
function forwardLines(stream: Readable | null, onLines: (lines: Buffer) => void): void {
  let tail = Buffer.alloc(0);
  stream?.on("data", (chunk: Buffer) => {
    const end = chunk.lastIndexOf(10) + 1;
    if (end > 0) onLines(Buffer.concat([tail, chunk.subarray(0, end)]));
    tail = end > 0 ? Buffer.from(chunk.subarray(end)) : Buffer.concat([tail, chunk]);
  });
  // A child that was killed may take the last of its lines with it.
  stream?.on("error", () => undefined);
  stream?.on("end", () => {
    if (tail.length > 0) onLines(Buffer.concat([tail, Buffer.from("\n")]));
  });
}
