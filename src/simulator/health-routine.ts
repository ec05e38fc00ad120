import type { Measurement } from "./device-protocol.ts";
import { uniform } from "./random.ts";

const never = Number.POSITIVE_INFINITY;
const round: readonly Measurement[] = ["pulse", "pressure", "pulse", "all", "temperature"];

/** When a watch measures what: by itself at its intervals, and on command. */
export class HealthRoutine {
  #everyMs: number;
  #dueMs = never;
  #temperatureEveryMs = 0;
  #temperatureDueMs = never;
  #ordered: Measurement[] = [];
  #orderedDueMs = never;
  #rounds = 0;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  get dueMs(): number {
    return Math.min(this.#dueMs, this.#temperatureDueMs, this.#orderedDueMs);
  }

  start(nowMs: number, seed: number): void {
    this.#dueMs = nowMs + this.#everyMs * uniform(seed, "first health");
  }

  order(what: Measurement, dueMs: number): void {
    this.#ordered.push(what);
    this.#orderedDueMs = dueMs;
  }

  /** 0: no longer. */
  repeat(what: "all" | "temperature", everyMs: number, nowMs: number): void {
    const dueMs = everyMs > 0 ? nowMs + everyMs : never;
    if (what === "all") [this.#everyMs, this.#dueMs] = [everyMs, dueMs];
    else [this.#temperatureEveryMs, this.#temperatureDueMs] = [everyMs, dueMs];
  }

  /** What is to be measured now. */
  take(nowMs: number): Measurement[] {
    const due: Measurement[] = [];
    if (nowMs >= this.#orderedDueMs) {
      due.push(...this.#ordered.splice(0));
      this.#orderedDueMs = never;
    }
    if (nowMs >= this.#dueMs) {
      due.push(round[this.#rounds++ % round.length] as Measurement);
      this.#dueMs = nowMs + this.#everyMs;
    }
    if (nowMs >= this.#temperatureDueMs) {
      due.push("temperature");
      this.#temperatureDueMs = nowMs + this.#temperatureEveryMs;
    }
    return due;
  }
}
