import type { Database } from "../../db/database.ts";
import { JobLane } from "../../db/job-lane.ts";
import { type ClaimedRow, isHeld, type JobTable } from "../../db/job-table.ts";
import type { Listener } from "../../db/listener.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import { retryDelayMs, retryTimes } from "../../lib/retry.ts";
import { appendOutbound } from "../../outbox/outbound-log.ts";
import type { OutcomeMetrics } from "../../outbox/outcome-metrics.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { wakeDevice } from "../devices/device-sessions.ts";
import { recordGivenUp } from "./message-audit.ts";
import { audioFormOf } from "./message-fields.ts";
import { type MessageRow, messageColumns, messageEntry } from "./message-record.ts";
import { insertAudio, speechChannel } from "./message-store.ts";
import type { SpokenText, VoiceTools } from "./voice-tools.ts";

export interface SpeechWorkerOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  /** Not started yet: the worker names its channel. */
  listener: Listener;
  catalog: Catalog;
  voice: Pick<VoiceTools, "speak">;
  outcomes?: OutcomeMetrics;
  pollMs?: number;
}

interface SpeechJob extends ClaimedRow {
  id: string;
  device_id: string;
  device_model_slug: string;
  text: string;
  language: string;
  voice: string;
}

/** The row of the message is the job. */
const speechJobs: JobTable = {
  table: "messages",
  key: ["device_id", "id"],
  dueAt: "speech_due_at",
  attempts: "speech_attempts",
  where: sql`job.speech_due_at is not null`,
  assign: sql`status = 'processing'`,
  select: sql`d.device_model_slug, job.text, job.language, job.voice`,
  joins: sql`join devices d on d.id = job.device_id and d.organization_id = job.organization_id`,
};

const speechRetries = retryTimes(3, [5000, 20_000]);
/** Longer than any attempt takes. */
const leaseMs = 60_000;

/**
 * Speaks the texts that wait, two at a time and one of each organization: that many processes there are for audio. After three attempts the message fails, and at once
 * when nothing can be heard of its text.
 */
export function startSpeechWorker(options: SpeechWorkerOptions): { close(): Promise<void> } {
  const { db, clock, log, listener, pollMs = 1000 } = options;
  return new JobLane<SpeechJob>({
    name: "speech",
    ...{ db, clock, log, listener, pollMs, leaseMs },
    channel: speechChannel,
    jobs: speechJobs,
    maxInFlight: 2,
    maxPerOrganization: 1,
    run: (job) => perform(options, job),
  });
}

async function perform(options: SpeechWorkerOptions, job: SpeechJob): Promise<void> {
  const { catalog, voice, log } = options;
  let audio: SpokenText;
  try {
    audio = await voice.speak(job.organization_id, job.text, job, audioFormOf(catalog, job.device_model_slug));
  } catch (error) {
    log.warn({ err: (error as Error).message, message: job.id, attempt: job.attempts }, "a text was not spoken");
    const delayMs = retryDelayMs(speechRetries, job.attempts);
    return delayMs === undefined ? fail(options, job) : postpone(options, job, delayMs);
  }
  if (audio.kind === "unspeakable") return fail(options, job);
  const { db } = options;
  const device = { id: job.device_id, organization_id: job.organization_id };
  await db.transaction(async (tx) => {
    // The attempt is part of the guard: a process whose lease was over comes too late.
    const moved = await tx.run(sql`
      update messages job set status = 'ready', speech_due_at = null, mime_type = 'audio/amr',
        duration_ms = ${audio.durationMs}, size_bytes = ${audio.amr.length}
      where ${isHeldJob(job)} and job.deleted_at is null`);
    if (moved === 0) return;
    await insertAudio(tx, device, job.id, audio.amr);
    await wakeDevice(tx, device.organization_id, device.id);
  });
}

const isHeldJob = (job: SpeechJob): Sql => sql`${isHeld(speechJobs, { ...job })} and job.status = 'processing'`;

async function postpone({ db, clock }: SpeechWorkerOptions, job: SpeechJob, delayMs: number): Promise<void> {
  const dueAt = new Date(clock.nowMs() + delayMs);
  await db.run(sql`
    update messages job set speech_due_at = ${dueAt} where ${isHeldJob(job)} and job.deleted_at is null`);
}

async function fail({ db, clock, outcomes }: SpeechWorkerOptions, job: SpeechJob): Promise<void> {
  const outbound = await db.transaction(async (tx) => {
    const now = clock.now();
    const row = await tx.maybeOne<MessageRow>(sql`
      with failed as (
        update messages job set status = 'failed', failure_reason = 'tts_failed', speech_due_at = null
        where ${isHeldJob(job)} returning job.*
      )
      select ${messageColumns} from failed m join devices d on d.id = m.device_id and d.organization_id = m.organization_id`);
    if (!row) return [];
    await recordGivenUp(tx, row, "processing", now);
    // What waits after it may be sent now.
    await wakeDevice(tx, job.organization_id, job.device_id);
    const entries = [messageEntry("message.failed", row, now.getTime())];
    await appendOutbound(tx, entries, now.getTime());
    return entries;
  });
  outcomes?.countOutcomes(outbound);
}
