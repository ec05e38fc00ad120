import type { Database } from "../db/database.ts";
import { failureCode, JobLane } from "../db/job-lane.ts";
import type { Listener } from "../db/listener.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { nextAttemptAt, retryForADay } from "../lib/retry.ts";
import { type PlaceJob, type PlaceKind, placeChannel } from "./place-job.ts";
import type { PlaceService } from "./place-service.ts";
import { type Claimed, finishPlaceJob, placeJobs, postponePlaceJob } from "./place-store.ts";

export const maxInFlight = 8;
export const maxPerOrganization = 6;
export const placeRetries = retryForADay(6);
// A question takes 5 s at most.
const leaseMs = 60_000;

/** `resolved` and `unresolved`: the job is finished and deleted. */
export type LookUp = { kind: "resolved" } | { kind: "unresolved" } | { kind: "failed"; error: string };
export type LookUpOutcome = "resolved" | "unresolved" | "retried" | "dropped";

type JobOfKind<Kind extends PlaceKind> = Claimed<Extract<PlaceJob, { kind: Kind }>>;

export interface PlaceLaneOptions<Kind extends PlaceKind> {
  kind: Kind;
  db: Database;
  clock: Clock;
  log: Logger;
  /** Not started yet: the lane names its channel. */
  listener: Listener;
  pollMs: number;
  service: PlaceService;
  lookUp: (job: JobOfKind<Kind>) => Promise<LookUp>;
  count: (outcome: LookUpOutcome) => void;
}

/**
 * Works off the jobs of one service, and leaves them in the table while the service is paused. When the lane closes, whoever
 * owns the client cuts short the jobs in progress; they are due again at once. The log gets ids and codes only.
 */
export function startPlaceLane<Kind extends PlaceKind>(
  options: PlaceLaneOptions<Kind>,
): Pick<JobLane<JobOfKind<Kind>>, "wake" | "close"> {
  const { kind, db, clock, log, listener, pollMs, service } = options;
  return new JobLane<JobOfKind<Kind>>({
    name: `place ${kind}`,
    ...{ db, clock, log, listener, pollMs, leaseMs, maxInFlight, maxPerOrganization },
    channel: placeChannel,
    jobs: placeJobs(kind),
    allowance: () => service.allowance(maxInFlight),
    run: (job, closing) => runLookUp(options, job, closing),
  });
}

async function runLookUp<Kind extends PlaceKind>(
  { kind, db, clock, log, lookUp, count }: PlaceLaneOptions<Kind>,
  job: JobOfKind<Kind>,
  closing: AbortSignal,
): Promise<void> {
  const result = await lookUp(job).catch((error: unknown) => ({ kind: "failed" as const, error: failureCode(error) }));
  if (result.kind !== "failed") return count(result.kind);
  const now = clock.now();
  if (closing.aborted) {
    await postponePlaceJob(db, job, now);
    return;
  }
  const facts = { kind, job: job.id, attempt: job.attempts, error: result.error };
  const until = nextAttemptAt(placeRetries, job, now);
  if (until) {
    await postponePlaceJob(db, job, until);
    count("retried");
    log.debug({ ...facts, until }, "place lookup failed; retrying");
  } else {
    await finishPlaceJob(db, job);
    count("dropped");
    log.warn(facts, "place lookup given up");
  }
}
