import { type ChildProcess, type Serializable, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { AudioJob, AudioResult } from "./audio-jobs.ts";
import type { JobAnswer } from "./audio-process.ts";

export interface ChildLimits {
  /** A job that takes longer is ended, and its process with it. */
  timeoutMs: number;
  /** All memory that the process may write to: heap, buffers and WebAssembly. */
  memoryMb: number;
}

/** A job that was ended because it took too long, needed too much memory or brought its process down. */
export class JobLost extends Error {}

/** One process that does jobs, one after the other. */
export class AudioChild {
  isOver = false;
  /** It keeps so much memory from earlier jobs that the next one could miss it. */
  isWorn = false;
  readonly #limits: ChildLimits;
  readonly #child: ChildProcess;
  #finish: ((outcome: { result: AudioResult } | { error: Error }) => void) | undefined;
  #jobs = 0;

  constructor(limits: ChildLimits) {
    this.#limits = limits;
    this.#child = startProcess(limits.memoryMb);
    this.#child.on("message", (message) => this.#onAnswer(message as unknown as JobAnswer));
    this.#child.on("error", (error) => this.#lose(error.message));
    this.#child.on("exit", (code, signal) => this.#lose(signal ?? `exit ${code}`));
    this.#release();
  }

  perform(job: AudioJob): Promise<AudioResult> {
    this.#child.ref();
    this.#child.channel?.ref();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#lose("it took too long");
        void this.end();
      }, this.#limits.timeoutMs);
      this.#finish = (outcome) => {
        this.#finish = undefined;
        clearTimeout(timer);
        this.#release();
        if ("result" in outcome) resolve(outcome.result);
        else reject(outcome.error);
      };
      if (this.isOver) return this.#lose("it had already ended");
      this.#child.send({ id: ++this.#jobs, job } as unknown as Serializable, (error) => {
        if (error) this.#lose(error.message);
      });
    });
  }

  /** Kills: a process that hangs does not hear a polite request. */
  async end(): Promise<void> {
    this.isOver = true;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }

  /** A process without work does not keep the program alive. */
  #release(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }

  #onAnswer({ id, result, error, residentBytes }: JobAnswer): void {
    this.isWorn = residentBytes > (this.#limits.memoryMb / 2) * 1024 * 1024;
    if (id !== this.#jobs) return;
    this.#finish?.(result ? { result: result as AudioResult } : { error: new Error(error) });
  }

  #lose(reason: string): void {
    this.isOver = true;
    this.#finish?.({ error: new JobLost(`an audio process has ended: ${reason}`) });
  }
}

/**
 * The limit of memory is set by a shell that becomes the process. On Linux the data limit counts every page that can be written,
 * ArrayBuffers and WebAssembly among them (measured: both fail at 512 MB; a limit on address space would not do, WebAssembly
 * reserves 20 GB of it). Other systems know the limit of the heap alone, and the time.
 */
const limitAndRun = 'ulimit -d "$0"; ulimit -c 0; exec "$@"';

function startProcess(memoryMb: number): ChildProcess {
  const heap = `--max-old-space-size=${Math.floor(memoryMb / 2)}`;
  const command = [process.execPath, heap, ...entry()];
  return spawn("/bin/sh", ["-c", limitAndRun, String(memoryMb * 1024), ...command], {
    // What decoders print about damaged files is for nobody, and the settings of the service are not for decoders.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    env: {},
    serialization: "advanced",
  });
}

/** In a build the program is a file of JavaScript beside this one; in development it is TypeScript and brings its loader along. */
function entry(): string[] {
  if (!import.meta.url.endsWith(".ts")) return [fileURLToPath(new URL("./audio-process.js", import.meta.url))];
  return ["--import", import.meta.resolve("tsx/esm"), fileURLToPath(new URL("./audio-process.ts", import.meta.url))];
}
