import { parentPort } from "node:worker_threads";
import { type AudioJob, makeAudioJobs } from "./audio-jobs.ts";

/** The thread: one job at a time, as they come. What fails is told; what hangs or dies is the pool's to end. */
const perform = makeAudioJobs();
parentPort?.on("message", ({ id, job }: { id: number; job: AudioJob }) => {
  perform(job).then(
    (result) => parentPort?.postMessage({ id, result }),
    (error: unknown) => parentPort?.postMessage({ id, error: error instanceof Error ? error.message : String(error) }),
  );
});
