import { ApiError } from "../lib/errors.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { AudioJob, AudioResult } from "./audio-jobs.ts";
import { JobLost } from "./worker-pool.ts";

type Run = (job: AudioJob) => Promise<AudioResult>;

const kinds = { to_amr: "upload", to_wav: "listen", speak: "speech", speech_to_amr: "speech" } as const;

/** Runs jobs and counts how they ended; the time counts from the request, the wait for a thread included. */
export function countedJobs(metrics: Metrics, waiting: () => number, run: Run): Run {
  const jobs = metrics.counter("vigil_audio_jobs_total", "Conversions of sound, by outcome.");
  const bounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
  const seconds = metrics.histogram("vigil_audio_job_seconds", "Time of a conversion, its wait included.", bounds);
  metrics.gauge("vigil_audio_jobs_waiting", "Conversions that wait for a thread.", waiting);
  return async (job) => {
    const startedMs = performance.now();
    const kind = kinds[job.op];
    let outcome = "failed";
    try {
      const result = await run(job);
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
