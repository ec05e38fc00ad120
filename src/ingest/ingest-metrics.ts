import type { Metrics } from "../lib/metrics.ts";
import { makeOutcomeMetrics } from "../outbox/outcome-metrics.ts";
import type { Committed } from "./batch.ts";

export function makeIngestMetrics(metrics: Metrics, queue: { queuedFrames: number; queuedBytes: number }) {
  const packets = metrics.counter("vigil_ingest_packets_total", "Packets stored, including resent ones.");
  const duplicates = metrics.counter("vigil_ingest_duplicates_total", "Resent packets that were stored before.");
  const batches = metrics.counter("vigil_ingest_batches_total", "Transactions of packets.");
  const optimistic = metrics.counter(
    "vigil_ingest_optimistic_total",
    "Transactions of packets sent as one message that takes the answers of the database for granted, by outcome: stored, or unexpected, after which they are tried again.",
  );
  const retries = metrics.counter("vigil_ingest_retries_total", "Attempts to store packets that the database refused.");
  const deferred = metrics.counter(
    "vigil_ingest_deferred_total",
    "Packets without an alarm that were left unanswered because the disk is nearly full.",
  );
  const faults = metrics.counter(
    "vigil_ingest_faults_total",
    "Rounds in which the program failed at every packet, which wait and are tried again.",
  );
  const poisoned = metrics.counter("vigil_ingest_poisoned_total", "Packets set aside because they cannot be stored.");
  const evaluations = metrics.counter("vigil_rules_evaluations_total", "Fixes and readings evaluated against rules.");
  const rereads = metrics.counter(
    "vigil_rules_rereads_total",
    "Devices whose rule state was read again because a timer or a lookup had changed it.",
  );
  const refusals = metrics.counter(
    "vigil_media_refused_total",
    "Parts of voice and ECG recordings that were not taken, by reason: model, quota or size.",
  );
  const sizes = metrics.histogram(
    "vigil_ingest_batch_packets",
    "Packets per transaction.",
    [1, 3, 10, 30, 100, 300, 1000, 2000],
  );
  const seconds = metrics.histogram(
    "vigil_ingest_commit_seconds",
    "Duration of a transaction of packets.",
    [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
  );
  const outcomes = makeOutcomeMetrics(metrics);
  metrics.gauge("vigil_ingest_queue_packets", "Packets waiting for their commit.", () => queue.queuedFrames);
  metrics.gauge("vigil_ingest_queue_bytes", "Approximate memory of waiting packets.", () => queue.queuedBytes);
  return {
    committed(count: number, committed: Committed, duration: number): void {
      const { duplicates: resent, ruleEvaluations, outbound, recordings, refused } = committed;
      packets.add({}, count);
      if (resent > 0) duplicates.add({}, resent);
      if (ruleEvaluations > 0) evaluations.add({}, ruleEvaluations);
      batches.add({});
      sizes.observe({}, count);
      seconds.observe({}, duration);
      for (const { reason } of refused) refusals.add({ reason });
      outcomes.countOutcomes(outbound);
      for (const status of recordings) outcomes.countRecording(status);
    },
    optimistic: (outcome: "stored" | "unexpected"): void => optimistic.add({ outcome }),
    reread: (devices: number): void => rereads.add({}, devices),
    deferred: (count: number): void => deferred.add({}, count),
    faulted: (): void => faults.add({}),
    retried: (): void => retries.add({}),
    poisoned: (protocol: string): void => poisoned.add({ protocol }),
  };
}
