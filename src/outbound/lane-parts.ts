import type { Database } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { SecretBox } from "../lib/secret-box.ts";
import type { Tracer } from "../tracing/tracer.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import type { DeliveryRecorder, RecordedLane } from "./delivery-recorder.ts";
import type { Slots } from "./delivery-slots.ts";
import type { OpenTarget } from "./webhook-client.ts";

/** What all lanes of a process share. */
export interface LaneParts {
  db: Database;
  clock: Clock;
  log: Logger;
  /** Opens what deliveries are signed with. */
  secrets: SecretBox;
  recorder: DeliveryRecorder;
  slots: Slots;
  /** Few lanes read at a time, so that the database has connections left for others. */
  reads: <T>(job: () => Promise<T>) => Promise<T>;
  openTarget: OpenTarget;
  metrics: DeliveryMetrics;
  waitsMs: readonly number[];
  timeoutMs: number;
  maxInFlight: number;
  tracer: Tracer | undefined;
  /** An attempt failed and is made again. */
  onRetry(): void;
  onClosed(lane: RecordedLane): void;
}
