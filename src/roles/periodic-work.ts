import { forgetProcesses } from "../console/operator/process-store.ts";
import { deleteOldChanges } from "../console/stream/change-store.ts";
import { pruneDefaults } from "../db/partitions.ts";
import { deleteOldIdempotencyKeys } from "../http/idempotency.ts";
import { deleteEndedWindows } from "../http/rate-limit-store.ts";
import { closeStalledRecordings } from "../ingest/ecg-closing.ts";
import { deleteOldMediaDays } from "../ingest/media-gate.ts";
import { deleteOldPoisoned } from "../ingest/poison-store.ts";
import { deleteOldBatches, sweepSilentDevices } from "../ingest/presence.ts";
import { deleteOldTransfers } from "../ingest/voice-store.ts";
import { uuidV7Floor } from "../lib/ids.ts";
import { repeat } from "../lib/lifecycle.ts";
import { deleteEndedSessions } from "../oauth/browser-sessions.ts";
import { deleteOldFailures } from "../oauth/failed-attempts.ts";
import { deleteOldResets } from "../oauth/password-store.ts";
import { deleteExpiredTokens } from "../oauth/token-store.ts";
import { deleteOldDeadLetters } from "../outbound/dead-letter-store.ts";
import { deleteOldHours } from "../outbound/delivery-health.ts";
import type { OutcomeMetrics } from "../outbox/outcome-metrics.ts";
import { makeCommandSweep } from "../resources/commands/command-sweep.ts";
import { resendTimezones } from "../resources/commands/timezone-resend.ts";
import { removeDeadNodes } from "../resources/devices/device-sessions.ts";
import { forgetThrottledNetworks, forgetUnknownDevices } from "../resources/devices/unknown-device-store.ts";
import { expireInvitations } from "../resources/invitations/invitation-expiry.ts";
import { deleteHiddenAudio, expireMessages } from "../resources/messages/message-delivery.ts";
import { deleteOldActivationTokens } from "../resources/users/activation-store.ts";
import { deleteExpiredHistory } from "./history-retention.ts";
import { keepPartitions, tablesOf } from "./partitioned-tables.ts";
import type { ServiceParts } from "./service-parts.ts";

const minuteMs = 60_000;
const maxUnknownDevices = 10_000;

/** What a worker does again and again: sweeps of what is due, and the end of rows that have served. */
export function startPeriodicWork(parts: ServiceParts, outcomes: OutcomeMetrics): (() => Promise<void>)[] {
  const { db, nodes, clock, log, config, catalog, retention } = parts;
  const presenceMs = Math.min(10_000, config.offlineAfterSeconds * 250);
  const messageExpiryMs = Math.min(10_000, config.commandTtlSeconds * 250);
  return [
    repeat("partitions", 60 * minuteMs, log, async () => {
      await keepPartitions(db, tablesOf(config), clock, log, retention);
      if (await retention.isClockRight(db)) await pruneDefaults(db, tablesOf(config), clock.nowMs());
    }),
    repeat("history", 60 * minuteMs, log, async () => {
      await deleteExpiredHistory(db, clock, log, retention);
    }),
    repeat("silent devices", presenceMs, log, async () => {
      await sweepSilentDevices(db, clock, config.offlineAfterSeconds);
    }),
    repeat("due commands", 500, log, makeCommandSweep(db, clock, outcomes, nodes)),
    repeat("time zones of watches", 10_000, log, async () => {
      await resendTimezones({ db, clock, catalog, commandTtlSeconds: config.commandTtlSeconds });
    }),
    repeat("dead gateways", 10_000, log, () => removeDeadNodes(db, clock.now())),
    repeat("stalled recordings", 10_000, log, async () => {
      await closeStalledRecordings(db, clock, outcomes);
    }),
    repeat("expired invitations", minuteMs, log, async () => {
      await expireInvitations(db, clock.now());
    }),
    repeat("expired messages", messageExpiryMs, log, async () => {
      await expireMessages(db, clock.now(), outcomes);
    }),
    repeat("expired rows", 5 * minuteMs, log, async () => {
      await deleteExpiredTokens(db, clock.now());
      await deleteOldIdempotencyKeys(db, clock.now());
      await deleteOldActivationTokens(db, clock.now());
      await deleteEndedSessions(db, clock.now());
      await deleteOldChanges(db);
      await deleteOldResets(db, clock.now());
      await deleteOldFailures(db, new Date(clock.nowMs() - 60 * minuteMs));
      await deleteEndedWindows(db, new Date(clock.nowMs() - 120 * minuteMs));
      // A batch may be tried again as long as an outage lasts.
      await deleteOldBatches(db, new Date(clock.nowMs() - 24 * 60 * minuteMs));
      await deleteOldMediaDays(db, new Date(clock.nowMs() - 48 * 60 * minuteMs));
      const dayAgo = new Date(clock.nowMs() - 24 * 60 * minuteMs);
      await deleteHiddenAudio(db, dayAgo);
      await deleteOldTransfers(db, dayAgo, new Date(clock.nowMs() - 42 * 24 * 60 * minuteMs));
      await forgetUnknownDevices(db, new Date(clock.nowMs() - 30 * 24 * 60 * minuteMs), maxUnknownDevices);
      await forgetThrottledNetworks(db, clock.now());
      await forgetProcesses(db, dayAgo);
      if (!(await retention.isClockRight(db))) return;
      await deleteOldDeadLetters(db, uuidV7Floor(clock.nowMs() - (config.retentionDays + 1) * 24 * 60 * minuteMs));
      await deleteOldHours(db, new Date(clock.nowMs() - config.retentionDays * 24 * 60 * minuteMs));
      await deleteOldPoisoned(db, new Date(clock.nowMs() - 90 * 24 * 60 * minuteMs));
    }),
  ];
}
