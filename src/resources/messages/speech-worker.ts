import type { Database } from "../../db/database.ts";
import type { Listener } from "../../db/listener.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
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

interface SpeechJob {
  id: string;
  device_id: string;
  organization_id: string;
  device_model_slug: string;
  text: string;
  language: string;
  voice: string;
  speech_attempts: number;
}

const mostAttempts = 3;
/** Longer than any attempt takes: a job that is due again belongs to a process that died. */
const leaseMs = 60_000;
const retryMs = [5000, 20_000];

/**
 * Speaks the texts that wait: the row of the message is the job. It is claimed with a lease, and due again when its process dies;
 * after three attempts the message fails, and at once when nothing can be heard of its text. A notification wakes, polling guarantees.
 */
export function startSpeechWorker(options: SpeechWorkerOptions): { close(): Promise<void> } {
  const { clock, log, listener } = options;
  let isClosed = false;
  let isWanted = false;
  let running: Promise<void> | undefined;
  const drain = async (): Promise<void> => {
    while (isWanted && !isClosed) {
      isWanted = false;
      for (let job = await claimSpeech(options, clock.now()); job && !isClosed; ) {
        await perform(options, job);
        job = await claimSpeech(options, clock.now());
      }
    }
  };
  const wake = (): void => {
    isWanted = true;
    running ??= drain()
      .catch((error: unknown) => log.warn({ err: error }, "texts could not be spoken, will be tried again"))
      .finally(() => {
        running = undefined;
      });
  };
  listener.on(speechChannel, wake);
  const polling = setInterval(wake, options.pollMs ?? 1000);
  return {
    close: async () => {
      isClosed = true;
      clearInterval(polling);
      await running;
    },
  };
}

const claimSpeech = ({ db }: SpeechWorkerOptions, now: Date): Promise<SpeechJob | undefined> =>
  db.maybeOne<SpeechJob>`
    with next as (
      select device_id, id from messages where speech_due_at <= ${now}
      order by speech_due_at limit 1 for update skip locked
    )
    update messages m set status = 'processing', speech_attempts = speech_attempts + 1,
      speech_due_at = ${new Date(now.getTime() + leaseMs)}
    from next join devices d on d.id = next.device_id
    where m.device_id = next.device_id and m.id = next.id
    returning m.id, m.device_id, m.organization_id, d.device_model_slug, m.text, m.language, m.voice, m.speech_attempts`;

async function perform(options: SpeechWorkerOptions, job: SpeechJob): Promise<void> {
  const { catalog, voice, log } = options;
  let audio: SpokenText;
  try {
    audio = await voice.speak(job.text, job, audioFormOf(catalog, job.device_model_slug));
  } catch (error) {
    log.warn({ err: (error as Error).message, message: job.id, attempt: job.speech_attempts }, "a text was not spoken");
    return job.speech_attempts < mostAttempts ? giveBack(options, job) : fail(options, job);
  }
  if (audio.kind === "unspeakable") return fail(options, job);
  const { db } = options;
  const device = { id: job.device_id, organization_id: job.organization_id };
  await db.transaction(async (tx) => {
    // The attempt is part of the guard: a process whose lease was over comes too late.
    const moved = await tx.run`
      update messages set status = 'ready', speech_due_at = null, mime_type = 'audio/amr',
        duration_ms = ${audio.durationMs}, size_bytes = ${audio.amr.length}
      where device_id = ${device.id} and organization_id = ${device.organization_id} and id = ${job.id}
        and status = 'processing' and speech_attempts = ${job.speech_attempts} and deleted_at is null`;
    if (moved === 0) return;
    await insertAudio(tx, device, job.id, audio.amr);
    await wakeDevice(tx, device.organization_id, device.id);
  });
}

const isHeldBy = (job: SpeechJob): Sql =>
  sql`m.device_id = ${job.device_id} and m.organization_id = ${job.organization_id} and m.id = ${job.id}
    and m.status = 'processing' and m.speech_attempts = ${job.speech_attempts}`;

async function giveBack({ db, clock }: SpeechWorkerOptions, job: SpeechJob): Promise<void> {
  const dueAt = new Date(clock.nowMs() + (retryMs[job.speech_attempts - 1] ?? 0));
  await db.run(sql`
    update messages m set speech_due_at = ${dueAt} where ${isHeldBy(job)} and m.deleted_at is null`);
}

async function fail({ db, clock, outcomes }: SpeechWorkerOptions, job: SpeechJob): Promise<void> {
  const told = await db.transaction(async (tx) => {
    const now = clock.now();
    const row = await tx.maybeOne<MessageRow>(sql`
      update messages m set status = 'failed', failure_reason = 'tts_failed', speech_due_at = null from devices d
      where ${isHeldBy(job)} and d.id = m.device_id returning ${messageColumns}`);
    if (!row) return [];
    await recordGivenUp(tx, row, "processing", now);
    // What waits behind it may go now.
    await wakeDevice(tx, job.organization_id, job.device_id);
    const entries = [messageEntry("message.failed", row, now.getTime())];
    await appendOutbound(tx, entries, now.getTime());
    return entries;
  });
  outcomes?.told(told);
}
