import { tooBusy } from "../lib/errors.ts";
import { hashPassword, verifyPassword } from "./passwords.ts";

/**
 * Hashing a password costs 20 MB and tens of milliseconds of a thread that file and name lookups need too. So a few run at
 * once, a bounded number waits, and every other call is asked to come back.
 */
export class PasswordWork {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor({ maxRunning = 2, maxWaiting = 100 } = {}) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  hash(password: string): Promise<string> {
    return this.#run(() => hashPassword(password));
  }

  verify(passwordHash: string, password: string): Promise<boolean> {
    return this.#run(() => verifyPassword(passwordHash, password));
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#maxRunning) {
      if (this.#waiting.length >= this.#maxWaiting) throw tooBusy();
      // Whoever ends passes its place on, so that the count does not change.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
