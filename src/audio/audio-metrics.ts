import { ApiError } from "../lib/errors.ts";
import type { Metrics } from "../lib/metrics.ts";
import { JobLost } from "./audio-child.ts";
import type { AudioJob, AudioResult } from "./audio-jobs.ts";

export type RunJob = (tenant: string, job: AudioJob) => Promise<AudioResult>;

const kinds = { to_amr: "upload", to_wav: "listen", speak: "speech", speech_to_amr: "speech" } as const;

/** Runs jobs and counts how they ended; the time counts from the request, the wait for a process included. */
export function countedJobs(metrics: Metrics, waiting: () => number, run: RunJob): RunJob {
  const jobs = metrics.counter("vigil_audio_jobs_total", "Audio conversions, by outcome.");
  const bounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
  const seconds = metrics.histogram("vigil_audio_job_seconds", "Duration of a conversion, including its wait.", bounds);
  metrics.gauge("vigil_audio_jobs_waiting", "Conversions that wait for a process.", waiting);
  return async (tenant, job) => {
    const startedMs = performance.now();
    const kind = kinds[job.op];
    let outcome = "failed";
    try {
      const result = await run(tenant, job);
      outcome = result.kind === "amr" || result.kind === "wav" ? "converted" : result.kind;
      return result;
    } catch (error) {
      if (error instanceof JobLost) outcome = "lost";
      else if (error instanceof ApiError) outcome = "refused";
      throw error;
    } finally {
      jobs.add({ kind, outcome });
      if (outcome !== "refused") seconds.observe({ kind }, (performance.now() - startedMs) / 1000);
    }
  };
}
