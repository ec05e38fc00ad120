import type { Database } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { PlaceJob, PlaceKind } from "./place-job.ts";
import { nextDueAt } from "./place-policy.ts";
import type { PlaceService } from "./place-service.ts";
import { type Claimed, claimPlaceJobs, finishPlaceJob, postponePlaceJob } from "./place-store.ts";

export const mostInFlight = 8;
// A question (5 s) and the writing of its result fit into the lease, so that nobody else takes the job meanwhile.
const leaseMs = 60_000;

/** `resolved` and `unresolved`: the job is finished and gone. */
export type LookUp = { kind: "resolved" } | { kind: "unresolved" } | { kind: "failed"; error: string };
export type LookUpOutcome = "resolved" | "unresolved" | "retried" | "dropped";

export interface PlaceLaneOptions<Kind extends PlaceKind> {
  kind: Kind;
  db: Database;
  clock: Clock;
  log: Logger;
  service: PlaceService;
  lookUp: (job: Claimed<Extract<PlaceJob, { kind: Kind }>>) => Promise<LookUp>;
  count: (outcome: LookUpOutcome) => void;
}

/**
 * Works off the jobs of one service. It holds no more jobs than it asks at once: all others wait in the table, also while the
 * service is left alone. The log gets ids and codes only; errors of the database may quote a row, so their text is left out.
 */
export class PlaceLane<Kind extends PlaceKind> {
  readonly #options: PlaceLaneOptions<Kind>;
  readonly #inFlight = new Set<Promise<void>>();
  #claiming: Promise<void> | undefined;
  #isWoken = false;
  #isClosing = false;

  constructor(options: PlaceLaneOptions<Kind>) {
    this.#options = options;
  }

  /** One claim at a time; who wakes during one causes another. */
  wake(): void {
    this.#isWoken = true;
    this.#claiming ??= this.#claimAll()
      .catch((error: unknown) => {
        const { kind, log } = this.#options;
        log.warn({ kind, error: codeOf(error) }, "no place look-ups could be claimed, will be tried again");
      })
      .finally(() => {
        this.#claiming = undefined;
        if (this.#isWoken && !this.#isClosing) this.wake();
      });
  }

  /** Takes no more jobs. Those under way are expected to be cut short by who owns the client; they are due again at once. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#claiming;
    await Promise.all(this.#inFlight);
  }

  async #claimAll(): Promise<void> {
    const { kind, db, clock, service } = this.#options;
    while (this.#isWoken && !this.#isClosing) {
      this.#isWoken = false;
      const limit = service.allowance(mostInFlight) - this.#inFlight.size;
      // Each job that ends wakes again, and so does the next poll.
      if (limit <= 0) return;
      for (const job of await claimPlaceJobs(db, { kind, now: clock.now(), leaseMs, limit })) this.#launch(job);
    }
  }

  #launch(job: Claimed<Extract<PlaceJob, { kind: Kind }>>): void {
    const work = this.#run(job)
      .catch((error: unknown) => {
        const { kind, log } = this.#options;
        log.warn({ kind, job: job.id, error: codeOf(error) }, "the result of a place look-up could not be stored");
      })
      .finally(() => {
        this.#inFlight.delete(work);
        if (!this.#isClosing) this.wake();
      });
    this.#inFlight.add(work);
  }

  async #run(job: Claimed<Extract<PlaceJob, { kind: Kind }>>): Promise<void> {
    const { kind, db, clock, log, lookUp, count } = this.#options;
    const result = await lookUp(job).catch((error: unknown) => ({ kind: "failed" as const, error: codeOf(error) }));
    if (result.kind !== "failed") return count(result.kind);
    const now = clock.now();
    if (this.#isClosing) {
      await postponePlaceJob(db, job, now);
      return;
    }
    const facts = { kind, job: job.id, attempt: job.attempts, error: result.error };
    const until = nextDueAt(job, now);
    if (until) {
      await postponePlaceJob(db, job, until);
      count("retried");
      log.debug({ ...facts, until }, "place look-up failed, will be tried again");
    } else {
      await finishPlaceJob(db, job);
      count("dropped");
      log.warn(facts, "place look-up given up");
    }
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
