import { join } from "node:path";
import { queueAlarmMails } from "../console/alarm-mails.ts";
import { queueWebhookMails } from "../console/webhook-mails.ts";
import { fencesOfLocated } from "../ingest/rules/located-rules.ts";
import { startRuleWorker } from "../ingest/rules/rule-worker.ts";
import { repeat } from "../lib/lifecycle.ts";
import { startMailSender } from "../mail/mail-sender.ts";
import { startWebhookPush } from "../outbound/webhook-push.ts";
import { makeOutcomeMetrics } from "../outbox/outcome-metrics.ts";
import { publishLocated } from "../places/located-update.ts";
import { startPlaceWorker } from "../places/place-worker.ts";
import { startSpeechWorker } from "../resources/messages/speech-worker.ts";
import { observeDeviceWork } from "./device-work-gauges.ts";
import { observeLastBackup } from "./last-backup.ts";
import { startPeriodicWork } from "./periodic-work.ts";
import type { ServiceParts } from "./service-parts.ts";
import { watchWalArchive } from "./wal-archive.ts";
import { webhookOptions } from "./webhook-options.ts";

/** What nobody waits for: speech, timers of rules, mails, webhooks, lookups of places and the housekeeping. */
export function openWorkerRole(parts: ServiceParts): void {
  const { config, lifecycle, db, nodes, clock, log, metrics, listener, catalog, carrierName } = parts;
  const { rules, secrets, voice } = parts;
  const shared = { db, clock, log, listener, metrics };
  const outcomes = makeOutcomeMetrics(metrics);
  if (voice.speaks) {
    const speech = startSpeechWorker({ db, clock, log, listener, catalog, voice, outcomes });
    lifecycle.add("speech worker", () => speech.close());
  }
  for (const stop of startPeriodicWork(parts, outcomes)) lifecycle.add("periodic work", stop);
  lifecycle.add("open work", observeDeviceWork(db, metrics, log, 15_000));
  if (config.databaseUrl === undefined) {
    lifecycle.add("age of the last backup", observeLastBackup(db, metrics, log, 60_000));
    const { walArchiveDir: wanted, walArchiveDays: keepDays } = config;
    const watch = { db, metrics, log, wanted, keepDays, nowMs: () => clock.nowMs() };
    lifecycle.add("WAL archive", watchWalArchive(watch, 10_000));
  }
  const alarmMails = repeat("alarm mails", 1000, log, async () => {
    await queueAlarmMails(db, clock, parts.baseUrl);
  });
  lifecycle.add("alarm mails", alarmMails);
  const webhookMails = repeat("webhook mails", 5000, log, async () => {
    await queueWebhookMails(db, clock, parts.baseUrl);
  });
  lifecycle.add("webhook mails", webhookMails);
  const timers = startRuleWorker({ ...shared, nodes, rules });
  lifecycle.add("rule timers", () => timers.close());
  const { smtpUrl, mailFrom: from } = config;
  const mails = startMailSender({ ...shared, smtpUrl, from, folder: join(config.dataDir, "mail") });
  lifecycle.add("mail sender", () => mails.close());
  const { processId: owner, tracer } = parts;
  const packetWaits = config.roles.includes("gateway") ? parts.packetWaits : undefined;
  const push = startWebhookPush({ ...shared, owner, tracer, secrets, packetWaits, ...webhookOptions(config) });
  lifecycle.add("webhook push", () => push.close());
  const { geolocateUrl, geocoderUrl } = config;
  if (geolocateUrl === undefined && geocoderUrl === undefined) return;
  const onLocated = fencesOfLocated(rules, clock, publishLocated(clock));
  const places = startPlaceWorker({ ...shared, carrierName, geolocateUrl, geocoderUrl, onLocated });
  lifecycle.add("place worker", () => places.close());
}
