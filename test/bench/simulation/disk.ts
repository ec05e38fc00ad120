import type { Machine } from "./machine.ts";

/** The log of the database: one flush at a time, and all who wait for it share the next. */
export class Disk {
  readonly #machine: Machine;
  readonly #flushUs: number;
  #waiting: (() => void)[] = [];
  #isFlushing = false;

  constructor(machine: Machine, flushUs: number) {
    this.#machine = machine;
    this.#flushUs = flushUs;
  }

  flush(done: () => void): void {
    this.#waiting.push(done);
    if (!this.#isFlushing) this.#begin();
  }

  #begin(): void {
    const served = this.#waiting;
    this.#waiting = [];
    this.#isFlushing = true;
    this.#machine.after(this.#flushUs, () => {
      this.#isFlushing = false;
      for (const done of served) done();
      if (this.#waiting.length > 0 && !this.#isFlushing) this.#begin();
    });
  }
}
