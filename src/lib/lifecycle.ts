import type { Logger } from "./logger.ts";

/**
 * What was opened, closed in reverse order. A part that fails to close is logged and does not keep the others open.
 */
export class Lifecycle {
  readonly #log: Logger;
  readonly #parts: { name: string; close: () => Promise<void> | void }[] = [];
  #closing: Promise<void> | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(name: string, close: () => Promise<void> | void): void {
    this.#parts.push({ name, close });
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    for (const part of this.#parts.reverse()) {
      try {
        await part.close();
      } catch (error) {
        this.#log.error({ err: error, part: part.name }, "a part did not close cleanly");
      }
    }
  }
}

/**
 * Runs a job again and again, a pause apart, never twice at once. A failure is logged and the next round tries again.
 * The returned function stops the rounds and waits for the one that is running.
 */
export function repeat(name: string, everyMs: number, log: Logger, job: () => Promise<void>): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const round = (): void => {
    running = job()
      .catch((error: unknown) => log.warn({ err: error, job: name }, "periodic job failed; it will be retried"))
      .finally(() => {
        if (!stopped) timer = setTimeout(round, everyMs);
      });
  };
  timer = setTimeout(round, 0);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}
