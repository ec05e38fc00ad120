import { lowerPriority } from "../lib/low-priority.ts";
import { type AudioJob, makeAudioJobs } from "./audio-jobs.ts";

/**
 * The process: one job at a time, as they come. What fails is reported; what hangs, dies or needs too much memory is the pool's to
 * end. It steps back for the process that serves devices, and ends with it.
 */
export interface JobAnswer {
  /** 0 says that the process has started. */
  id: number;
  result?: unknown;
  error?: string;
  /** Memory of the process after the job. */
  residentBytes: number;
}

lowerPriority(10);
const perform = makeAudioJobs();
const answer = (outcome: Omit<JobAnswer, "residentBytes">): void => {
  process.send?.({ ...outcome, residentBytes: process.memoryUsage.rss() });
};
process.on("disconnect", () => process.exit());
process.on("message", ({ id, job }: { id: number; job: AudioJob }) => {
  perform(job).then(
    (result) => answer({ id, result }),
    (error: unknown) => answer({ id, error: error instanceof Error ? error.message : String(error) }),
  );
});
answer({ id: 0 });
