import { type ChildProcess, type Serializable, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
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
  #hasStarted = false;

  constructor(limits: ChildLimits) {
    this.#limits = limits;
    this.#child = startProcess(limits.memoryMb);
    this.#child.on("message", (message) => this.#onAnswer(message as unknown as JobAnswer));
    this.#child.on("error", (error) => this.#die(error.message));
    this.#child.on("exit", (code, signal) => this.#die(signal ?? `exit ${code}`));
    this.#release();
  }

  perform(job: AudioJob): Promise<AudioResult> {
    this.#child.ref();
    this.#child.channel?.ref();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#lose(new JobLost("an audio process was ended: it took too long"));
        void this.end();
      }, this.#limits.timeoutMs);
      this.#finish = (outcome) => {
        this.#finish = undefined;
        clearTimeout(timer);
        this.#release();
        if ("result" in outcome) resolve(outcome.result);
        else reject(outcome.error);
      };
      if (this.isOver) return this.#die("it had already ended");
      this.#child.send({ id: ++this.#jobs, job } as unknown as Serializable, (error) => {
        if (error) this.#die(error.message);
      });
    });
  }

  /** Kills: a process that hangs does not hear a polite request. */
  async end(): Promise<void> {
    this.isOver = true;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined) return;
    this.#child.ref();
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }

  /** A process without work does not keep the program alive. */
  #release(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }

  #onAnswer({ id, result, error, residentBytes }: JobAnswer): void {
    this.#hasStarted = true;
    this.isWorn = residentBytes > (this.#limits.memoryMb / 2) * 1024 * 1024;
    if (id !== this.#jobs) return;
    this.#finish?.(result ? { result: result as AudioResult } : { error: new Error(error) });
  }

  /** A process that never came up is a fault of the installation, not of the file. */
  #die(reason: string): void {
    this.#lose(
      this.#hasStarted
        ? new JobLost(`an audio process has ended: ${reason}`)
        : new Error(`an audio process could not be started: ${reason}`),
    );
  }

  #lose(error: Error): void {
    this.isOver = true;
    this.#finish?.({ error });
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
  return spawn("/bin/sh", ["-c", limitAndRun, String(memoryMb * 1024 + codeRangeKb()), ...command], {
    // What decoders print about damaged files is for nobody, and the settings of the service are not for decoders.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    env: {},
    serialization: "advanced",
  });
}

/** Less than this is no range that was set aside at the start. */
const minCodeRangeKb = 128 * 1024;

/**
 * Node 24 maps 512 MB for compiled code when it starts, writable and nearly all of it never touched; the data limit counts them, and
 * under a lower one it cannot even start. A child is the same program as this process and maps as much. Node 20 and 22 map code as
 * they compile it, some megabytes, which are the child's own to pay.
 */
function codeRangeKb(): number {
  try {
    const ranges = readFileSync("/proc/self/maps", "latin1").matchAll(/^([0-9a-f]+)-([0-9a-f]+) rwxp/gm);
    const sizes = Array.from(ranges, ([, from = "0", to = "0"]) => Number.parseInt(to, 16) - Number.parseInt(from, 16));
    const totalKb = Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / 1024);
    return totalKb < minCodeRangeKb ? 0 : totalKb;
  } catch {
    return 0;
  }
}

/** In a build the program is a file of JavaScript beside this one; in development it is TypeScript and brings its loader along. */
function entry(): string[] {
  if (!import.meta.url.endsWith(".ts")) return [fileURLToPath(new URL("./audio-process.js", import.meta.url))];
  return ["--import", import.meta.resolve("tsx/esm"), fileURLToPath(new URL("./audio-process.ts", import.meta.url))];
}
